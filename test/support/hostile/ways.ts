import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { HAS_WORKERS, support, type StartOptions } from '../testbed.js';
import { number } from './things/shell.mjs';
import type { Thing, Way } from './things/index.mjs';

/** A service whose jobs are kept apart in one way, started by root or by a normal user. */
export interface HostedWay {
  name: string;
  way: Way;
  /** Settings and account of the service. */
  start: () => StartOptions;
  /** What the start log says of the way. */
  means: string;
}

/**
 * How these tests become a normal user who has an entry in /etc/passwd, as PostgreSQL wants; when they are root that is
 * nobody. `lacks` says why they cannot.
 */
export function namedUser(): { account: number | undefined; words: string[]; lacks?: string } {
  if (!isRoot) return { account: undefined, words: [] };
  const ids = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'));
  const [account, group] = [Number(ids?.[1]), Number(ids?.[2])];
  const words = ['setpriv', `--reuid=${account}`, `--regid=${group}`, '--clear-groups', '--'];
  if (ids === null) return { account, words, lacks: 'there is no account nobody' };
  if (!isReachable()) return { account, words, lacks: 'only root gets to the project or to Node' };
  return { account, words };
}

const isRoot = process.getuid?.() === 0;
/** A normal user's id that no account of jobs and nobody else here has. */
const uid = isRoot ? randomInt(300_000, 400_000) : undefined;
const asUser =
  uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--'];

const works = (...words: string[]): boolean => {
  const [program = '', ...rest] = words;
  return spawnSync(program, rest, { timeout: 20_000, stdio: 'ignore' }).status === 0;
};
const ENTER = ['unshare', '--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'];
const WRAP = ['bwrap', '--unshare-all', '--ro-bind', '/', '/', 'true'];
/** Who is not root may mount in a user namespace only, in which it stays who it is. */
const PRIVATE = isRoot
  ? ['unshare', '--mount', '--propagation', 'private']
  : [
      ...['unshare', '--user', '--map-current-user', '--mount', '--keep-caps'],
      '--propagation=private',
    ];
const canMount = works(...PRIVATE, 'true');

/** The ways that this machine permits; of each other one a line says why it is left out. */
export function waysHere(): HostedWay[] {
  return candidates().flatMap(({ lacking, ...way }) => {
    if (lacking === undefined) return [way];
    process.stderr.write(`hostile programs, ${way.name}: left out, ${lacking}\n`);
    return [];
  });
}

function candidates(): (HostedWay & { lacking: string | undefined })[] {
  const root = isRoot ? undefined : 'these tests were not started by root';
  const forRoot = (program: string[]): string | undefined =>
    root ?? (works(...program) ? undefined : 'the machine does not permit it');
  const forUser = (program: string[]): string | undefined =>
    works(...asUser, ...program) ? userLacks() : 'the machine does not permit it';
  const mounts = canMount ? undefined : 'bubblewrap cannot be hidden: mounts are not permitted';
  const level = (name: string) => ({ GRID_LOCAL_ISOLATION: name });
  const namespaces = level('namespaces');
  const hasBwrap = works('bwrap', '--version');
  const bare = { hidesBwrap: hasBwrap };
  return [
    {
      ...{ name: 'namespaces by bubblewrap, root', way: 'bubblewrap', means: 'bubblewrap' },
      start: () => rootStart(namespaces),
      lacking: forRoot(WRAP),
    },
    {
      ...{ name: 'namespaces by util-linux, root', way: 'utilLinux', means: 'util-linux and perl' },
      start: () => rootStart(namespaces, bare),
      lacking: forRoot(ENTER) ?? (hasBwrap ? mounts : undefined),
    },
    {
      ...{ name: 'accounts, root', way: 'accounts', means: 'setpriv and perl' },
      start: () => rootStart(level('accounts')),
      lacking: root,
    },
    {
      ...{ name: 'namespaces by bubblewrap, normal user', way: 'bubblewrap', means: 'bubblewrap' },
      start: () => userStart(namespaces),
      lacking: forUser(WRAP),
    },
    {
      ...{
        name: 'namespaces by util-linux, normal user',
        way: 'utilLinux',
        means: 'util-linux and perl',
      },
      start: () => userStart(namespaces, bare),
      lacking: forUser(ENTER) ?? (hasBwrap ? mounts : undefined),
    },
    {
      ...{ name: 'none, normal user', way: 'none', means: "the service's own account" },
      start: () => userStart(level('none')),
      lacking: userLacks(),
    },
  ];
}

type Env = Record<string, string>;

function rootStart(env: Env, more: { hidesBwrap?: boolean } = {}): StartOptions {
  return more.hidesBwrap === true ? { env, through: through(hiding(), []) } : { env };
}

/** Settings of a service of a normal user: of the tests' own account, or, when that is root, of another one. */
function userStart(env: Env, more: { hidesBwrap?: boolean } = {}): StartOptions {
  const mounts = more.hidesBwrap === true ? hiding() : [];
  if (uid === undefined) {
    const drop = ['setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--'];
    return { env, ...(mounts.length > 0 ? { through: through(mounts, drop) } : {}) };
  }
  const own = { env: { ...env, HOME: '/nonexistent' }, owner: uid };
  if (isReachable()) return { ...own, through: through(mounts, asUser) };
  return {
    ...own,
    root: `${STAGE}/project`,
    program: `${STAGE}/node`,
    through: through([...mounts, ...staging()], asUser),
  };
}

/** Mounts for the service alone, then whoever becomes it. */
function through(mounts: readonly string[], become: readonly string[]): string[] {
  if (mounts.length === 0) return [...become];
  const script = [...mounts, 'exec "$@"'].join(' && ');
  return [...PRIVATE, '--', '/bin/sh', '-c', script, 'start', ...become];
}

/** A machine without bubblewrap: something that is no program stands in its place. */
function hiding(): string[] {
  const { stdout } = spawnSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' });
  return [`mount --bind /dev/null ${realpathSync(stdout.trim())}`];
}

const STAGE = '/mnt';

/** The project and Node where a normal user gets to: both may lie below /root. */
function staging(): string[] {
  return [
    `mount -t tmpfs -o mode=755 tmpfs ${STAGE}`,
    `mkdir ${STAGE}/project`,
    `: >${STAGE}/node`,
    `mount --bind '${projectRoot()}' ${STAGE}/project`,
    `mount --bind '${process.execPath}' ${STAGE}/node`,
  ];
}

function projectRoot(): string {
  return support().root;
}

function isReachable(): boolean {
  return isPassable(projectRoot()) && isPassable(dirname(process.execPath));
}

function isPassable(path: string): boolean {
  return (statSync(path).mode & 0o001) !== 0 && (path === '/' || isPassable(dirname(path)));
}

function userLacks(): string | undefined {
  if (uid === undefined || canMount || isReachable()) return undefined;
  return 'the project is where only root gets to, and mounts are not permitted';
}

/** What has to be on the machine so that a thing can be tried at all. */
const NEEDS: Record<string, () => boolean> = {
  processors: () => availableParallelism() > 1,
  'worker of the service': () => !HAS_WORKERS,
  route: () => /^\S+\t00000000\t/m.test(readFileSync('/proc/net/route', 'latin1')),
  'network device': () => readFileSync('/proc/net/dev', 'latin1').split(':').length > 2,
  'user namespaces': () => works(...asUser, 'unshare', '--user', 'true'),
  vsock: () => permits(`${number('socket')}, 40, 1, 0`),
  io_uring: () => permits(`${number('io_uring_setup')}, 1, $p`, '$p = "\\0" x 120'),
};

function permits(words: string, before = ''): boolean {
  return works(...asUser, 'perl', '-e', `${before}; exit(syscall(${words}) < 0)`);
}

const met = new Map<string, boolean>();

/** True when the machine has what the thing attacks, and the way is one where it is tried. */
export function isTried({ thing, needs, notRun }: Thing, way: Way): boolean {
  if (notRun?.[way] !== undefined) return false;
  if (needs === undefined) return true;
  if (!met.has(needs)) {
    met.set(needs, NEEDS[needs]?.() === true);
    if (met.get(needs) !== true) process.stderr.write(`not on this machine: ${needs} (${thing})\n`);
  }
  return met.get(needs) === true;
}

/** True when the page says that the way does not stop the thing on a machine that is set like this one. */
export function isLeak({ leaks, where }: Thing, way: Way): boolean {
  if (leaks?.[way] === undefined) return false;
  if (where === undefined) return true;
  try {
    const path = `/proc/sys/${where.setting.replaceAll('.', '/')}`;
    return where.values.includes(readFileSync(path, 'utf8').trim());
  } catch {
    return false;
  }
}
