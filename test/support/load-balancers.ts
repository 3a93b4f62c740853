import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localHaproxy, localNginx } from '../../deploy/check/local.mjs';
import { Daemon, waitUntil } from './daemon.js';

/** Load balancers that the project ships a configuration for. */
export type Balancer = 'nginx' | 'haproxy';
/** Ends TLS and forwards the certificate, or passes TLS through. */
export type Mode = 'terminate' | 'passthrough';

/** What a load balancer stands before. */
export interface BalancerInput {
  root: string;
  balancer: Balancer;
  mode: Mode;
  port: number;
  /** `127.0.0.1:port` of both instances. */
  instances: string[];
  /** Directory with ca.crt, server.crt and server.key. */
  pki: string;
}

/** A running load balancer with the configuration of deploy/. */
export class LoadBalancer {
  private constructor(
    private readonly daemon: Daemon,
    readonly directory: string,
    readonly port: number,
  ) {}

  static async start(input: BalancerInput): Promise<LoadBalancer> {
    const directory = await mkdtemp(join(tmpdir(), 'grid-balancer-'));
    await writeTls(join(directory, 'tls'), input.pki);
    const { program, args } = await configured(input, directory);
    const daemon = new Daemon({ program, args, log: join(directory, 'daemon.log') });
    daemon.start();
    const balancer = new LoadBalancer(daemon, directory, input.port);
    try {
      const probe = async () => !daemon.isRunning || (await accepts(input.port));
      await waitUntil(probe, `${program} to listen`);
      if (!daemon.isRunning) throw new Error(`${program} ended: ${await balancer.log()}`);
    } catch (error) {
      await balancer.remove();
      throw error;
    }
    return balancer;
  }

  /** What the load balancer has written. */
  async log(): Promise<string> {
    const texts = await Promise.all(
      ['daemon.log', 'error.log', 'access.log'].map((name) =>
        readFile(join(this.directory, name), 'utf8').catch(() => ''),
      ),
    );
    return texts.join('');
  }

  async remove(): Promise<void> {
    await this.daemon.end('SIGTERM'); // fast, and takes nginx's workers along
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function writeTls(directory: string, pki: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const read = (name: string): Promise<string> => readFile(join(pki, name), 'utf8');
  const [cert, key] = await Promise.all([read('server.crt'), read('server.key')]);
  await Promise.all([
    writeFile(join(directory, 'server.crt'), cert),
    writeFile(join(directory, 'server.key'), key, { mode: 0o600 }),
    writeFile(join(directory, 'server.pem'), `${cert}\n${key}`, { mode: 0o600 }),
    cp(join(pki, 'ca.crt'), join(directory, 'client-ca.pem')),
    cp(join(pki, 'ca.crt'), join(directory, 'server-ca.pem')),
  ]);
}

async function configured(
  { root, balancer, mode, port, instances }: BalancerInput,
  directory: string,
): Promise<{ program: string; args: string[] }> {
  const place = { directory, port, instances };
  const shipped = (name: string): Promise<string> =>
    readFile(join(root, 'deploy', balancer, name), 'utf8');
  const file = join(directory, 'configuration');
  if (balancer === 'nginx') {
    await writeFile(file, localNginx(await shipped(`${mode}.conf`), place));
    return { program: 'nginx', args: ['-c', file] };
  }
  await writeFile(file, localHaproxy(await shipped(`${mode}.cfg`), place));
  return { program: 'haproxy', args: ['-db', '-f', file] };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
