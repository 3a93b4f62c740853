import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { has } from './missing.js';

/** The part of a machine's name and addresses that no other test has (198.18.0.0/15 is for tests, RFC 2544). */
const OWN = process.pid % 250;
/** The machine of the tests, as all others reach it. */
export const SERVICE_ADDRESS = `198.18.${OWN}.254`;

/** What becomes of packets while a machine is cut off: both ways are silent, its answers are lost but not what it says, or it has no link. */
export const CUTS = ['silent', 'answers', 'link'] as const;

export type Cut = (typeof CUTS)[number];

/** Whatever begins elsewhere is dropped without a word. A cut is a rule before that, so it holds for connections that are open. */
const FIREWALL = `
table inet gridgate {
  chain cut_in { }
  chain cut_out { }
  chain input {
    type filter hook input priority 0; policy drop;
    iif lo accept
    jump cut_in
    ct state established,related accept
  }
  chain forward { type filter hook forward priority 0; policy drop; }
  chain output { type filter hook output priority 0; policy accept; oif lo accept; jump cut_out; }
}
`;

/** Another machine as far as the network goes: a network namespace with a link to this machine, which nobody can reach from outside. */
export class FarMachine {
  private readonly name: string;
  private readonly link: string;
  readonly address: string;

  private constructor(private readonly index: number) {
    this.name = `gridgate-${process.pid}-${index}`;
    this.link = `gg${OWN}x${index}`;
    this.address = `198.18.${OWN}.${4 * index + 2}`;
  }

  /** Makes the machine of this number, from 1 to 50; it is open until `close`. */
  static start(index: number): FarMachine {
    const machine = new FarMachine(index);
    machine.remove();
    try {
      machine.begin();
    } catch (error) {
      machine.remove();
      throw error;
    }
    return machine;
  }

  private begin(): void {
    const { name, link, index, address } = this;
    const gateway = `198.18.${OWN}.${4 * index + 1}`;
    if (!addresses().includes(SERVICE_ADDRESS)) {
      ip('address', 'add', `${SERVICE_ADDRESS}/32`, 'dev', 'lo');
    }
    ip('netns', 'add', name);
    ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('address', 'add', `${gateway}/30`, 'dev', link);
    ip('link', 'set', link, 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'address', 'add', `${address}/30`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'route', 'add', 'default', 'via', gateway);
  }

  /** From now on it drops everything that does not belong to a connection of its own. */
  close(): void {
    this.nft(FIREWALL);
  }

  /** Words before a command that runs it there. */
  get through(): string[] {
    return ['nsenter', `--net=/run/netns/${this.name}`, '--'];
  }

  cut(how: Cut): void {
    if (how === 'link') ip('link', 'set', this.link, 'down');
    else this.nft('add rule inet gridgate cut_in drop');
    if (how === 'silent') this.nft('add rule inet gridgate cut_out drop');
  }

  /** Ends every cut. */
  mend(): void {
    this.nft('flush chain inet gridgate cut_in\nflush chain inet gridgate cut_out');
    ip('link', 'set', this.link, 'up');
  }

  /** Processes that are in its network. */
  processes(): number[] {
    return ip('netns', 'pids', this.name).split('\n').filter(Boolean).map(Number);
  }

  /** Also what an earlier process of this number has left. */
  remove(): void {
    spawnSync('ip', ['link', 'delete', this.link]);
    spawnSync('ip', ['netns', 'delete', this.name]);
  }

  private nft(text: string): void {
    execFileSync('nsenter', [`--net=/run/netns/${this.name}`, 'nft', '-f', '-'], { input: text });
  }

  /** Everything that machines of this process have on this one, one line each; empty when all are removed. */
  static left(): string[] {
    const names = (text: string): string[] =>
      text.split('\n').filter((line) => line.includes(`gridgate-${process.pid}-`));
    const links = ip('-o', 'link').split('\n');
    return [
      ...names(ip('netns', 'list')),
      ...names(readFileSync('/proc/self/mountinfo', 'latin1')),
      ...links.filter((line) => line.includes(` gg${OWN}x`)),
      ...addresses().filter((address) => address === SERVICE_ADDRESS),
    ];
  }

  /** The address of this machine goes, too. */
  static end(): void {
    spawnSync('ip', ['address', 'delete', `${SERVICE_ADDRESS}/32`, 'dev', 'lo']);
  }
}

/** Whether this machine lets a test make others, and else why not. */
export const FAR_MACHINES = { programs: has('ip') && has('nft') && has('nsenter'), ...tried() };

function tried(): { met: boolean; name: string } {
  const name = 'network namespaces with a firewall (root with CAP_SYS_ADMIN and CAP_NET_ADMIN)';
  if (process.getuid?.() !== 0) return { met: false, name };
  try {
    const machine = FarMachine.start(50);
    try {
      machine.close();
      return { met: true, name };
    } finally {
      machine.remove();
      FarMachine.end();
    }
  } catch (error) {
    return { met: false, name: `${name}: ${(error as Error).message.split('\n')[0] ?? ''}` };
  }
}

function addresses(): string[] {
  return ip('-o', 'address')
    .split('\n')
    .flatMap((line) => /inet6? ([^/ ]+)/.exec(line)?.[1] ?? []);
}

function ip(...words: string[]): string {
  return execFileSync('ip', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
