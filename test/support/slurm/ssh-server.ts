import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { accessSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Daemon, endProcessesBelow, waitUntil } from '../daemon.js';
import { freePorts } from '../ports.mjs';

const run = promisify(execFile);

/** Why no sshd can be started here; undefined when one can. */
export function sshFault(): string | undefined {
  for (const [path, name] of [
    ['/usr/sbin/sshd', 'openssh-server'],
    ['/usr/bin/ssh', 'openssh-client'],
  ] as const) {
    try {
      accessSync(path);
    } catch {
      return `packages are missing: apt-get install --no-install-recommends ${name}`;
    }
  }
  return process.getuid?.() === 0 ? undefined : 'sshd must be started by root to sign in others';
}

/** A real sshd of this test alone, on loopback, with a host key and the keys of its users in one directory. */
export class SshServer {
  constructor(
    readonly directory: string,
    readonly port: number,
    readonly daemon: Daemon,
  ) {}

  readonly host = '127.0.0.1';

  /** The key that it takes. */
  get identityFile(): string {
    return join(this.directory, 'user');
  }

  /** A key that it does not take. */
  get strangeIdentityFile(): string {
    return join(this.directory, 'stranger');
  }

  get knownHostsFile(): string {
    return join(this.directory, 'known_hosts');
  }

  /** Known hosts without it. */
  get emptyHostsFile(): string {
    return join(this.directory, 'nobody');
  }

  /** Known hosts with another key for it. */
  get wrongHostsFile(): string {
    return join(this.directory, 'wrong_hosts');
  }

  /** Its processes: the listener first, then those of the connections. */
  async processes(): Promise<number[]> {
    const { pid } = this.daemon;
    if (pid === undefined) return [];
    const { stdout } = await run('ps', ['-e', '-o', 'pid=,ppid=']);
    const pairs = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/).map(Number));
    const found = [pid];
    for (const one of found) {
      for (const [child = 0, parent] of pairs) if (parent === one) found.push(child);
    }
    return found;
  }

  /** Sends a signal to the listener and to all of its connections, not to what they run. */
  async signalAll(name: NodeJS.Signals): Promise<void> {
    for (const pid of await this.processes()) {
      const text = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
      if (text.trim() === 'sshd') process.kill(pid, name);
    }
  }

  /** Ends all connections, as a cut cable would. */
  async cut(): Promise<void> {
    const [, ...others] = await this.processes();
    for (const pid of others) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has ended
      }
    }
  }

  async stop(): Promise<void> {
    await this.signalAll('SIGCONT');
    await this.cut();
    await this.daemon.end('SIGKILL');
    await endProcessesBelow(this.directory);
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Starts an sshd that takes one key for the account. */
export async function startSsh(account: string): Promise<SshServer> {
  const directory = await mkdtemp(join(tmpdir(), 'grid-sshd-'));
  await chmod(directory, 0o755);
  const at = (name: string): string => join(directory, name);
  const [port = 0] = await freePorts(1);
  for (const name of ['host', 'other', 'user', 'stranger']) {
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', at(name)]);
  }
  const known = async (name: string): Promise<string> =>
    `[127.0.0.1]:${port} ${await readFile(at(`${name}.pub`), 'utf8')}`;
  await writeFile(at('known_hosts'), await known('host'));
  await writeFile(at('wrong_hosts'), await known('other'));
  await writeFile(at('nobody'), '');
  await writeFile(at('keys'), await readFile(at('user.pub')), { mode: 0o644 });
  // Where its unprivileged part lives; a package of the system makes it otherwise.
  await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const lines = [
    ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${at('host')}`, 'PidFile none'],
    ...[`AuthorizedKeysFile ${at('keys')}`, 'StrictModes no', 'UsePAM no', `AllowUsers ${account}`],
    ...['PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'PrintMotd no'],
    ...['PermitUserEnvironment no', 'MaxStartups 100', 'MaxSessions 10', 'UseDNS no', ''],
  ];
  await writeFile(at('sshd_config'), lines.join('\n'));
  const daemon = new Daemon({
    program: '/usr/sbin/sshd',
    args: ['-D', '-e', '-f', at('sshd_config')],
    env: { GRID_TEST_PLACE: directory },
    log: at('sshd.log'),
  });
  daemon.start();
  await waitUntil(() => answers(port), 'sshd');
  return new SshServer(directory, port, daemon);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('data', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  }).then((value) => value as boolean);
}
