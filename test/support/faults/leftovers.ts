import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { controlGroups } from '../processes.js';

/** Where everybody may write on a usual machine. */
const EVERYBODYS = ['/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'];
const LOCKS = ['/run', '/var/run', '/var/tmp', '/tmp'].map((path) => `${path}/gridgate-accounts`);
const RUN = /^(\d+\.\d+|probe-)/;
const MAX_DEPTH = 6;

/** What may have been left by jobs, and by what it is known. */
export interface Traces {
  /** Accounts that nobody but the jobs of the test has. */
  accounts: { first: number; last: number };
  /** The directories in which the runs of the instances are. */
  runs: readonly string[];
  /** The spools of their sandbox stores. */
  spools: readonly string[];
  /** The names under which their executors hold jobs. */
  executors: readonly string[];
  /** Begin of the names of the files that the programs leave. */
  names: string;
}

/** Everything that jobs have left on this machine, one line each; empty when they have left nothing. */
export async function leftovers(traces: Traces): Promise<string[]> {
  const places = await Promise.all(EVERYBODYS.map((path) => filesOf(path, traces, 0)));
  return [
    ...processesOf(traces),
    ...traces.runs.flatMap((path) => namesIn(path).filter((name) => RUN.test(name))),
    ...traces.spools.flatMap(namesBelow),
    ...LOCKS.flatMap(namesIn)
      .filter((name) => isOne(traces, Number.parseInt(name, 10)))
      .map((name) => `lock of account ${name}`),
    ...places.flat(),
    ...objectsOf(traces),
    ...mountsOf(traces),
    ...groupsOf(traces),
  ];
}

function processesOf(traces: Traces): string[] {
  return namesIn('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    const status = textOf(`/proc/${pid}/status`);
    const isDead = /^State:\t[ZX]/m.test(status);
    const uid = Number(/^Uid:\t(\d+)/m.exec(status)?.[1]);
    return isOne(traces, uid) && !isDead
      ? [`process ${pid}: ${textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(-200)}`]
      : [];
  });
}

async function filesOf(path: string, traces: Traces, depth: number): Promise<string[]> {
  const found: string[] = [];
  const directory = await opendir(path).catch(() => undefined);
  if (!directory) return found;
  const names: string[] = [];
  try {
    for await (const { name } of directory) names.push(name);
  } catch {
    return found; // gone meanwhile
  }
  for (const name of names) {
    const info = await lstat(join(path, name)).catch(() => undefined);
    if (!info) continue;
    if (isOne(traces, info.uid) || name.startsWith(traces.names)) found.push(join(path, name));
    // Directories of others are not looked through: jobs cannot write there.
    const isOpen = (info.mode & 0o002) !== 0;
    if (info.isDirectory() && isOpen && depth < MAX_DEPTH) {
      found.push(...(await filesOf(join(path, name), traces, depth + 1)));
    }
  }
  return found;
}

/** IPC objects: their owner is the account of a job. */
function objectsOf(traces: Traces): string[] {
  return ['shm', 'sem', 'msg'].flatMap((kind) =>
    textOf(`/proc/sysvipc/${kind}`)
      .split('\n')
      .slice(1)
      .filter((line) =>
        line
          .trim()
          .split(/\s+/)
          .some((word) => isOne(traces, Number(word))),
      )
      .map((line) => `${kind}: ${line}`),
  );
}

function mountsOf({ runs }: Traces): string[] {
  return textOf('/proc/self/mountinfo')
    .split('\n')
    .filter((line) => runs.some((path) => line.includes(path)));
}

/** Those of runs: a worker that lives has one of its own. */
function groupsOf({ executors }: Traces): string[] {
  const own = executors.map((id) => id.replace('local:', 'gridgate-'));
  return own
    .flatMap((name) => controlGroups(name))
    .flatMap((path) =>
      namesIn(path)
        .filter((name) => RUN.test(name))
        .map((name) => join(path, name)),
    );
}

function isOne({ accounts }: Traces, uid: number): boolean {
  return uid >= accounts.first && uid <= accounts.last;
}

/** Files below a directory. */
function namesBelow(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
