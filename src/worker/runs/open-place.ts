import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '#src/config/index.js';
import type { Logger } from '#src/runtime/index.js';
import { sandboxDirectory } from '#src/jobs/run/index.js';
import { AccountPool, accountDirectory, parseAccounts } from '../isolation/account-pool.js';
import { becomeBy, type Isolation, type IsolationReport } from '../isolation/isolation.js';
import { MemoryGroups } from '../isolation/memory-group.js';
import { findProgram, probeIsolation, WHAT_TO_DO, writeShared } from '../isolation/probe.js';
import { parseBinds, systemView, type SystemView } from '../isolation/system-view.js';
import { JobRights } from './job-rights.js';
import { trustedOwnAddress } from './network-rule.js';
import { listOfLeft, openRunRoot, type RunRoot } from './run-root.js';
import type { WorkerConfig } from './worker-config.js';

const PROGRAM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';
/** A part of the memory of a job may be in `/dev/shm`. */
const SHM_PART = 0.5;
const MIB = 2 ** 20;
const CLOSE_ON_EXEC = 0o2000000;
/** Begin of the names of directories in which isolation is tried. */
const TRIAL = 'probe-';

/** What `openPlace` has found and made. */
export interface LocalPlace {
  root: RunRoot;
  isolation: Isolation;
  /** Accounts for runs; undefined when they run under the service's own. */
  accounts: AccountPool | undefined;
  /** Control groups for the memory of runs; undefined where none can be made. */
  groups: MemoryGroups | undefined;
  rights: JobRights;
  /** Program that binds a run to processors; undefined where there is none. */
  taskset: string | undefined;
}

/** Says at the start how jobs are kept apart; that they are not is a warning. */
export function logIsolation(logger: Logger, { level, reason }: IsolationReport): void {
  if (level === 'none') {
    logger.warn({ level }, `${reason}: whoever may submit a job can do whatever this service can`);
  } else logger.info({ level }, reason);
}

/** Opens this machine as a place for jobs. Throws Error when no isolation that was asked for is possible, and for settings that cannot be. */
export async function openPlace(
  config: WorkerConfig,
): Promise<LocalPlace & { report: IsolationReport }> {
  const accounts = accountsOf(config);
  const root = await openRunRoot(config.homePath, accounts !== undefined);
  const { isolation, refusals } = await findIsolation(config, root, accounts);
  const setpriv = findProgram('setpriv', PROGRAM_PATH) ?? 'setpriv';
  const groups = MemoryGroups.open(root.executorId.replace('local:', ''));
  return {
    root,
    isolation,
    accounts,
    groups,
    rights: new JobRights(becomeBy(setpriv), listOfLeft(root)),
    taskset: findProgram('taskset', PROGRAM_PATH),
    report: reportOf(isolation, refusals, groups),
  };
}

function accountsOf(config: WorkerConfig): AccountPool | undefined {
  if (!hasAccounts(config)) return undefined;
  return new AccountPool(accountDirectory(), parseAccounts(config.localAccounts));
}

/** Runs have accounts of their own. */
export function hasAccounts({ localIsolation }: Pick<WorkerConfig, 'localIsolation'>): boolean {
  return process.getuid?.() === 0 && localIsolation !== 'none';
}

/** The best isolation that was asked for, tried below that root. Throws Error when none is possible. */
async function findIsolation(
  config: WorkerConfig,
  root: RunRoot,
  accounts: AccountPool | undefined,
): Promise<{ isolation: Isolation; refusals: readonly string[] }> {
  writeShared(root.path);
  for (const name of readdirSync(root.path)) {
    if (name.startsWith(TRIAL)) rmSync(join(root.path, name), { recursive: true, force: true });
  }
  const trial = mkdtempSync(join(root.path, TRIAL));
  const uid = await accounts?.take(trial);
  try {
    const { isolation, refusals } = await probeIsolation({
      wanted: config.localIsolation,
      view: viewOf(config, root),
      directory: root.path,
      shmBytes: Math.floor(config.jobMemoryMb * MIB * SHM_PART),
      uid,
    });
    if (!isolation) {
      const tried = refusals.join('; ');
      throw new Error(`local jobs cannot be isolated here (${tried}). To have them: ${WHAT_TO_DO}`);
    }
    refuseSharedNetwork(config, isolation);
    return { isolation, refusals };
  } finally {
    if (uid !== undefined) accounts?.release(uid, trial);
    rmSync(trial, { recursive: true, force: true });
  }
}

/** Without a network namespace every job is as a program of a site with `network: host`. */
function refuseSharedNetwork(config: WorkerConfig, isolation: Isolation): void {
  const address = trustedOwnAddress(config);
  if (isolation.level !== 'accounts' || address === undefined) return;
  throw new Error(
    `at level accounts local jobs have the machine's network, and GRID_TRUSTED_PROXIES believes ${address}, from ` +
      `which they could speak. To have local jobs: ${WHAT_TO_DO.split(';')[0]}; or name other proxies`,
  );
}

/** What `openPlace` would find, tried in a temporary directory: beside a running server nothing of it is touched. */
export async function describeLocalIsolation(config: Config): Promise<IsolationReport> {
  if (!config.allowLocalExecutor) {
    const reason = 'GRID_LOCAL_EXECUTOR does not allow local jobs';
    return { level: 'off', reason, isWanted: false };
  }
  let path: string | undefined;
  try {
    path = mkdtempSync(join(tmpdir(), 'gridgate-trial-'));
    chmodSync(path, 0o711);
    const root = { path, executorId: '' };
    const { isolation, refusals } = await findIsolation(config, root, accountsOf(config));
    const groups = MemoryGroups.open(`trial-${process.pid}`);
    groups?.close();
    return reportOf(isolation, refusals, groups);
  } catch (error) {
    return { level: 'off', reason: (error as Error).message, isWanted: true };
  } finally {
    if (path !== undefined) rmSync(path, { recursive: true, force: true });
  }
}

/** Whatever the service keeps on disk is left out of what jobs see, wherever it lies. */
export function viewOf(config: WorkerConfig, root: Pick<RunRoot, 'path'>): SystemView {
  const files = [config.tlsKey, config.idProvidersFile, config.slurmTokenKeyFile];
  const own = [
    ...[config.homePath, root.path, config.slurmWorkDir],
    ...(config.sandboxStore.startsWith('s3:') ? [] : [sandboxDirectory(config)]),
    ...files.map((file) => (file === undefined ? undefined : dirname(file))),
  ];
  const paths = own.filter((path) => path !== undefined).map((path) => resolve(path));
  return systemView(parseBinds(config.localBinds), paths);
}

function reportOf(
  isolation: Isolation,
  refusals: readonly string[],
  groups: MemoryGroups | undefined,
): IsolationReport {
  const { level, means } = isolation;
  const memory = groups
    ? 'memory is bounded by control groups'
    : 'memory is looked at once a second, as no control groups for it can be made here';
  const rest = refusals.length > 0 ? ` (${refusals.join('; ')})` : '';
  const reason = `local jobs run at isolation level ${level} by ${means}${rest}; ${memory}`;
  return { level, reason, isWanted: true };
}

/**
 * Closes descriptors that whoever started the service had left open: Node closes its own ones in programs that it
 * starts, not those, and a job would have them.
 */
export function closeInherited(): void {
  if (process.channel) return; // one of them is the channel to the parent
  if (!existsSync('/proc/self/fdinfo')) return;
  for (const name of readdirSync('/proc/self/fdinfo')) {
    if (Number(name) <= 2) continue;
    try {
      const info = readFileSync(`/proc/self/fdinfo/${name}`, 'latin1');
      const flags = parseInt(/^flags:\t(\d+)/m.exec(info)?.[1] ?? '', 8);
      if ((flags & CLOSE_ON_EXEC) === 0) closeSync(Number(name));
    } catch {
      // closed already: it was that of this very look
    }
  }
}
