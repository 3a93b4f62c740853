import { createHash } from 'node:crypto';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from './things/index.mjs';

/** What of the machine everybody may use: a file, its directory, a socket in it, and an abstract socket. */
export interface OpenThings {
  open: Target['open'];
  abstract: string;
  close(): Promise<void>;
}

export async function makeOpenThings(mark: string): Promise<OpenThings> {
  const directory = mkdtempSync(join(tmpdir(), 'hostile-open-'));
  const open = { directory, file: join(directory, 'file'), socket: join(directory, 'socket') };
  writeFileSync(open.file, 'for everybody\n', { mode: 0o644 });
  const abstract = `gridgate-machine-${mark}`;
  const server = await listen(open.socket);
  const listener = await listenAbstract(abstract);
  execFileSync('chmod', ['755', directory]);
  execFileSync('chmod', ['777', open.socket]);
  return {
    open,
    abstract,
    close: async () => {
      listener.kill('SIGKILL');
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Listens on the abstract socket of its first argument and says so; Node 20 cannot. */
export const ABSTRACT_LISTENER =
  'use Socket; socket($s, AF_UNIX, SOCK_STREAM, 0); bind($s, pack("S a*", AF_UNIX, "\\0$ARGV[0]")) or die; ' +
  'listen($s, 9); $| = 1; print "mine\\n"; sleep 900';

async function listenAbstract(name: string): Promise<ChildProcess> {
  const child = spawn('perl', ['-e', ABSTRACT_LISTENER, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => resolve(server));
  });
}

/** What hostile programs could have changed; two of these, before and after, are to be the same. */
export function victimsOf({ home, server, worker, neighbour }: Target): Record<string, unknown> {
  return {
    hostname: hostname(),
    accounts: digest('/etc/passwd') + digest('/etc/shadow'),
    corePattern: textOf('/proc/sys/kernel/core_pattern'),
    swaps: textOf('/proc/swaps'),
    clockAheadSeconds: Math.round((Date.now() - performance.now() - performance.timeOrigin) / 5000),
    planted: ['/x', '/etc/x', '/usr/bin/x'].filter((path) => kindOf(path) !== ''),
    service: processOf(server),
    worker: processOf(worker),
    keys: filesOf(join(home, 'pki')),
    neighbour: processOf(neighbour.pid),
    neighboursFiles: filesOf(join(neighbour.directory, 'work')),
    neighboursOutput: textOf(join(neighbour.directory, 'out')),
  };
}

/** When it was started, whether it is stopped, and who traces it. */
function processOf(pid: number): object {
  const stat = textOf(`/proc/${pid}/stat`);
  const status = textOf(`/proc/${pid}/status`);
  return {
    startTicks: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19],
    isStopped: /^State:\t[Tt]/m.test(status),
    tracer: /^TracerPid:\t(\d+)/m.exec(status)?.[1],
  };
}

function filesOf(directory: string): Record<string, string> {
  const files = readdirSync(directory).sort();
  return Object.fromEntries(
    files.map((name) => [
      name,
      `${kindOf(join(directory, name))} ${digest(join(directory, name))}`,
    ]),
  );
}

function kindOf(path: string): string {
  const info = lstatSync(path, { throwIfNoEntry: false });
  return info ? `${info.mode.toString(8)} ${info.uid} ${info.mtimeMs}` : '';
}

function digest(path: string): string {
  return createHash('sha256').update(textOf(path)).digest('hex');
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
