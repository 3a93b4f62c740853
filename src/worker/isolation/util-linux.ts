import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { shellWord } from '#src/jobs/run/index.js';
import { inNamespaces, INNER_ID, JOB_PLACES, type NamespacesInput } from './bubblewrap.js';
import { filtered, type FilterLoader } from './filter-loader.js';
import type { Enclosure, Isolation } from './isolation.js';

/**
 * Level `namespaces` by the programs of util-linux: `unshare`, `mount`, `pivot_root`, `setpriv`. `script` is where the text of
 * `enterScript` was written; `root` an empty directory.
 */
export function utilLinux(
  unshare: string,
  means: string,
  files: { script: string; root: string },
  input: NamespacesInput,
): Isolation {
  const commandOf = ({ path, uid, hasNetwork, devices }: Enclosure): string[] => [
    ...input.become(uid),
    unshare,
    ...['--user', '--map-root-user', '--mount', '--pid', '--ipc', '--uts', '--cgroup'],
    ...(hasNetwork ? [] : ['--net']),
    ...['--fork', '--kill-child=KILL', '--propagation', 'private'],
    ...['--', '/bin/sh', files.script, path, files.root, ...devices],
  ];
  return { ...inNamespaces(input.view), means, commandOf };
}

/**
 * What pid 1 of the new namespaces does: builds the view of the job on an empty file system, changes into it, gives up
 * all rights and runs the launch script. It stays as the parent of orphans; with its end the kernel ends all others.
 */
export function enterScript(input: NamespacesInput, filter: FilterLoader | undefined): string {
  const { view, etc, shmBytes } = input;
  const places: Place[] = [
    ...view.shown.map((path) => placeOf(path)),
    { ...placeOf('/etc/passwd', join(etc, 'passwd')), isFile: true },
    { ...placeOf('/etc/group', join(etc, 'group')), isFile: true },
  ];
  const loader = filter === undefined ? [] : filtered(filter, FILTER_FD);
  const program = [...loader, '/bin/sh', JOB_PLACES.launch].map(shellWord).join(' ');
  const lent = view.binds.map(({ path, isWritable }) => ({ ...placeOf(path), isWritable }));
  return [
    ...HEAD,
    ...(filter === undefined ? [] : [`exec ${FILTER_FD}<${shellWord(filter.file)}`]),
    ...points(places),
    ...[...view.links].map(([path, to]) => `ln -s ${shellWord(to)} ${shellWord(`.${path}`)}`),
    ...places.map(mountOf),
    `mount --bind "$run/work" .${JOB_PLACES.work}`,
    `mount --bind "$run/tmp" .${JOB_PLACES.tmp}`,
    `mount --bind "$run/launch" .${JOB_PLACES.launch}`,
    'if [ -d "$run/token" ]; then',
    `  mkdir .${JOB_PLACES.token}; mount --bind "$run/token" .${JOB_PLACES.token}`,
    'fi',
    // These may lie below the job's own /tmp.
    ...lent.flatMap((place) => [`mkdir -p ${shellWord(`.${place.to}`)}`, mountOf(place)]),
    ...closing(lent),
    ...devices(shmBytes),
    ...view.hidden.map(
      (path) => `mount -t tmpfs -o ro,mode=555,size=4k tmpfs ${shellWord(`.${path}`)}`,
    ),
    ...LEAVE,
    `' enter ${program}`,
    'exit $?',
    '',
  ].join('\n');
}

interface Place {
  from: string;
  to: string;
  isFile: boolean;
  isWritable: boolean;
}

function placeOf(to: string, from = to): Place {
  const isFile = statSync(from, { throwIfNoEntry: false })?.isDirectory() === false;
  return { from, to, isFile, isWritable: false };
}

function mountOf({ from, to }: Place): string {
  return `mount --rbind ${shellWord(from)} ${shellWord(`.${to}`)}`;
}

const HEAD = [
  'run=$1 root=$2',
  'shift 2',
  'set -e',
  "trap '[ $? = 0 ] || exit 125' EXIT",
  'umask 022',
  'mount -t tmpfs -o mode=755,size=256k,nr_inodes=1k,nosuid,nodev tmpfs "$root"',
  'cd "$root"',
];

/** Where the mounts go: a directory, or an empty file. */
function points(places: readonly Place[]): string[] {
  const directories = places.map(({ to, isFile }) => (isFile ? dirname(to) : to));
  const files = places.filter(({ isFile }) => isFile).map(({ to }) => to);
  const words = (paths: readonly string[]): string =>
    [...new Set(paths)].map((path) => shellWord(`.${path}`)).join(' ');
  return [
    `mkdir -p old proc dev var run job tmp ${words(directories)}`,
    `for file in .${JOB_PLACES.launch} ${words(files)}; do : >"$file"; done`,
  ];
}

/**
 * Makes everything read-only but the directories of the job and what is lent to it. Mounts below a shown directory have
 * come along, and each has to be closed; a flag that a mount has outside may not be taken from it inside.
 */
function closing(places: readonly Place[]): string[] {
  const lent = places.filter(({ isWritable }) => isWritable).map(({ to }) => to);
  const own = [JOB_PLACES.work, JOB_PLACES.tmp, ...lent];
  const patterns = own.map((path) => `"$root"${shellWord(path)}`).join(' | ');
  return [
    'all=$(while read -r _ _ _ _ point _; do printf "%s\\n" "$point"; done </proc/self/mountinfo)',
    "IFS='\n'",
    'for point in $all; do',
    '  case $point in "$root"/*) ;; *) continue ;; esac',
    `  case $point in ${patterns}) how= ;; *) how=ro, ;; esac`,
    '  point=$(printf %b "$point")',
    '  mount -o "remount,bind,${how}nosuid,nodev" "$point" 2>/dev/null ||',
    '    mount -o "remount,bind,${how}nosuid,nodev,noexec" "$point"',
    'done',
    'unset IFS',
  ];
}

function devices(shmBytes: number): string[] {
  return [
    'mount -t tmpfs -o mode=755,size=64k,nr_inodes=64,nosuid tmpfs dev',
    'for name in null zero full random urandom tty; do',
    '  : >dev/$name; mount --bind /dev/$name dev/$name',
    'done',
    // What this run has beside.
    'for device; do',
    '  name=${device##*/}; : >"dev/$name"; mount --bind "$device" "dev/$name"',
    'done',
    'mkdir dev/shm',
    `mount -t tmpfs -o mode=1777,size=${shmBytes},nosuid,nodev tmpfs dev/shm`,
    'ln -s /proc/self/fd dev/fd; ln -s /proc/self/fd/0 dev/stdin',
    'ln -s /proc/self/fd/1 dev/stdout; ln -s /proc/self/fd/2 dev/stderr',
    'mount -o remount,bind,ro,nosuid dev',
    'mount -t proc -o nosuid,nodev,noexec proc proc',
    'ln -s ../tmp var/tmp; ln -s ../run var/run',
  ];
}

/** A descriptor that /bin/sh can name. */
const FILTER_FD = 5;

const LEAVE = [
  'hostname job 2>/dev/null || :',
  'pivot_root . old',
  'cd /',
  'umount -l old',
  'rmdir old',
  'mount -o remount,bind,ro,nosuid,nodev /',
  `cd ${JOB_PLACES.work}`,
  'trap - EXIT',
  'set +e',
  // No exec: pid 1 keeps its rights, so that the program, which has none, can neither trace nor stop it. A further user
  // namespace gives the program an id that is not root's, and allows no more of them.
  `unshare --user --map-user=${INNER_ID} --map-group=${INNER_ID} --keep-caps -- /bin/sh -c '`,
  '  echo 0 >/proc/sys/user/max_user_namespaces',
  '  exec setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- "$@"',
];
