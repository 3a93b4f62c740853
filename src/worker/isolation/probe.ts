import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { signal } from '../watch/run-members.js';
import { supervisorCommand } from './supervisor.js';
import { bubblewrap, type NamespacesInput } from './bubblewrap.js';
import type { FilterLoader } from './filter-loader.js';
import {
  becomeBy,
  type BecomeAccount,
  RUN_FILES,
  type Isolation,
  type IsolationLevel,
} from './isolation.js';
import { NO_ISOLATION, ownAccounts } from './plain.js';
import { systemCallFilter } from './system-call-filter.js';
import { isShown, type SystemView } from './system-view.js';
import { enterScript, utilLinux } from './util-linux.js';

/** What isolation was asked for, and on what it rests. */
export interface ProbeInput {
  wanted: IsolationLevel | 'auto';
  view: SystemView;
  /** Directory in which what all runs share is written; jobs' accounts can pass through it. */
  directory: string;
  shmBytes: number;
  /** An account to try with when the service is root; nobody else has it meanwhile. */
  uid: number | undefined;
  /** Programs are looked for on this path. */
  path?: string;
}

/** What was found: a way of isolation, or why there is none. */
export interface ProbeResult {
  isolation: Isolation | undefined;
  /** What was tried and did not work, one sentence each. */
  refusals: string[];
}

/** Jobs can do nothing: what a person can do about it. */
export const WHAT_TO_DO =
  'permit user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, or the container’s ' +
  'security profile) and install bubblewrap or util-linux; or start the service as root, so that each job gets an ' +
  'account of its own; or ask for no isolation by name: GRID_LOCAL_ISOLATION=none';

const PROGRAM_PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';
const TRIAL_MS = 10_000;

/**
 * Finds the best isolation that was asked for and that this machine permits, by really running a program in it: what a
 * kernel, a container or a security module allows cannot be read anywhere.
 */
export async function probeIsolation(input: ProbeInput): Promise<ProbeResult> {
  const refusals: string[] = [];
  if (input.wanted === 'none') return { isolation: NO_ISOLATION, refusals };
  // All are made before the first is tried: what is not installed is told also of a machine where another way works.
  for (const candidate of [...candidates(input, refusals)]) {
    const fault = await faultOf(candidate, input);
    if (fault === undefined) return { isolation: candidate, refusals };
    refusals.push(`${candidate.level} by ${candidate.means}: ${fault}`);
  }
  return { isolation: undefined, refusals };
}

/** The ways that there are programs for, the best first; what is not installed is among the refusals. */
function* candidates(input: ProbeInput, refusals: string[]): Generator<Isolation> {
  const { wanted, uid } = input;
  const find = (name: string): string | undefined => findProgram(name, input.path ?? PROGRAM_PATH);
  const setpriv = find('setpriv');
  if (uid !== undefined && setpriv === undefined) {
    refusals.push(
      'as root: setpriv (util-linux), which gives up the rights of root, is not installed',
    );
    return;
  }
  const become = becomeBy(setpriv ?? '');
  if (wanted !== 'accounts') yield* namespaces(input, refusals, { find, become });
  if (wanted === 'namespaces') return;
  if (uid === undefined) {
    refusals.push('accounts: the service was not started as root');
    return;
  }
  const setsid = find('setsid') ?? 'setsid';
  for (const { filter, means } of filters(input, 'setpriv')) {
    yield ownAccounts(means, become, setsid, filter);
  }
}

function* namespaces(
  { view, shmBytes, directory }: ProbeInput,
  refusals: string[],
  { find, become }: { find: (name: string) => string | undefined; become: BecomeAccount },
): Generator<Isolation> {
  const etc = join(directory, 'etc');
  const rest: NamespacesInput = { view, etc, shmBytes, become };
  const bwrap = find('bwrap');
  if (bwrap === undefined) refusals.push('namespaces by bubblewrap: bwrap is not installed');
  else yield bubblewrap(bwrap, meansOf(bwrap), { ...rest, hasFilter: hasFilter() });
  const unshare = find('unshare');
  const missing = ['setpriv', 'mount', 'umount', 'pivot_root'].filter((name) => !find(name));
  if (unshare === undefined || missing.length > 0) {
    refusals.push(`namespaces by util-linux: ${missing[0] ?? 'unshare'} is not installed`);
    return;
  }
  for (const { filter, means } of filters({ view, directory }, 'util-linux')) {
    const script = join(etc, filter ? 'enter' : 'enter-unfiltered');
    writeWhole(script, enterScript(rest, filter));
    yield utilLinux(unshare, means, { script, root: join(etc, 'root') }, rest);
  }
}

/** Programs without a filter of system calls of their own: with one that perl loads, where that works, or else without. */
function filters(
  { view, directory }: Pick<ProbeInput, 'view' | 'directory'>,
  means: string,
): { filter: FilterLoader | undefined; means: string }[] {
  const perl = PERLS.find((path) => isShown(view, path));
  const without = { filter: undefined, means: `${means}, without a filter of system calls` };
  if (perl === undefined || !hasFilter()) return [without];
  return [
    { filter: { perl, file: join(directory, 'etc', 'filter') }, means: `${means} and perl` },
    without,
  ];
}

const PERLS = ['/usr/bin/perl', '/bin/perl', '/usr/local/bin/perl'];

function hasFilter(): boolean {
  return systemCallFilter(process.arch) !== undefined;
}

function meansOf(bwrap: string): string {
  const { stdout } = spawnSync(bwrap, ['--version'], { encoding: 'utf8', timeout: TRIAL_MS });
  return stdout?.trim() || 'bubblewrap';
}

/** Writes what runs share: the accounts that jobs see, the filter of system calls, an empty directory. */
export function writeShared(directory: string): void {
  const etc = join(directory, 'etc');
  mkdirSync(join(etc, 'root'), { recursive: true, mode: 0o755 });
  const nobody = 'nobody:x:65534:65534:nobody:/:/bin/false\n';
  writeWhole(join(etc, 'passwd'), `job:x:1000:1000:job:/job:/bin/sh\n${nobody}`);
  writeWhole(join(etc, 'group'), 'job:x:1000:\nnogroup:x:65534:\n');
  const filter = systemCallFilter(process.arch);
  if (filter !== undefined) writeWhole(join(etc, 'filter'), filter);
}

/** A run may be starting with the file at this moment. */
function writeWhole(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content, { mode: 0o644 });
  renameSync(`${path}.new`, path);
}

/** Runs a program that leaves a file; undefined when that worked, else what was said. */
async function faultOf(isolation: Isolation, input: ProbeInput): Promise<string | undefined> {
  const path = mkdtempSync(join(input.directory, 'probe-'));
  try {
    const { uid } = input;
    const places = isolation.placesOf(path);
    const script = `umask 022; : >${places.work}/done && : >${places.tmp}/done`;
    prepareTrial(path, script, uid);
    const hasNetwork = isolation.level !== 'namespaces';
    const command = isolation.commandOf({ path, uid, hasNetwork, hasToken: false, devices: [] });
    const said = await runTrial(path, command, { isolation, directory: input.directory });
    const isDone = statSync(join(path, RUN_FILES.work, 'done'), { throwIfNoEntry: false });
    return isDone ? undefined : said;
  } catch (error) {
    return (error as Error).message; // such as EINVAL of chown in a user namespace that has no such account
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

function prepareTrial(path: string, script: string, uid: number | undefined): void {
  chmodSync(path, uid === undefined ? 0o700 : 0o711);
  for (const name of [RUN_FILES.work, RUN_FILES.tmp]) {
    mkdirSync(join(path, name), { mode: 0o700 });
    if (uid !== undefined) chownSync(join(path, name), uid, uid);
  }
  writeFileSync(join(path, RUN_FILES.launch), script, { mode: 0o400 });
  if (uid !== undefined) chownSync(join(path, RUN_FILES.launch), uid, uid);
}

async function runTrial(
  path: string,
  command: string[],
  { isolation, directory }: { isolation: Isolation; directory: string },
): Promise<string> {
  const [program = '', ...words] = supervisorCommand({
    ...{ command, filter: isolation.hasDescriptors && join(directory, 'etc', 'filter') },
    ...{ fileBlocks: 2048, cpuSeconds: 5, openFiles: 256 },
  });
  const child = spawn(program, words, {
    cwd: path,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: PROGRAM_PATH },
    detached: true,
  });
  // Else what it has started would hold its pipes open.
  const late = setTimeout(() => child.pid !== undefined && signal(-child.pid, 'SIGKILL'), TRIAL_MS);
  try {
    const [said] = await Promise.all([text(child.stderr), once(child, 'close')]);
    return said.trim().split('\n').at(-1)?.slice(0, 300) || 'it did not run';
  } finally {
    clearTimeout(late);
  }
}

/** The program of that name on a path; undefined when there is none. */
export function findProgram(name: string, path: string): string | undefined {
  return path
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}
