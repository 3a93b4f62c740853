import { basename, join } from 'node:path';
import {
  type BecomeAccount,
  RUN_FILES,
  type Enclosure,
  type Isolation,
  type JobPlaces,
} from './isolation.js';
import { isShown, type SystemView } from './system-view.js';

/** Ids of the program in its own user namespace. */
export const INNER_ID = 1000;
/** Where jobs see their directories at level `namespaces`. */
export const JOB_PLACES: JobPlaces = {
  work: '/job',
  tmp: '/tmp',
  launch: '/run/launch',
  token: '/run/token',
};
/** Descriptors that the supervisor opens: what became of the sandbox, and the filter of system calls. */
const STATUS_FD = 3;
const FILTER_FD = 4;

/** What both means of level `namespaces` need. */
export interface NamespacesInput {
  view: SystemView;
  /** Directory with `passwd` and `group` for jobs. */
  etc: string;
  /** Bytes of `/dev/shm`. */
  shmBytes: number;
  become: BecomeAccount;
}

/** What is the same for both means of level `namespaces`. */
export function inNamespaces(view: SystemView): Pick<Isolation, 'level' | 'placesOf' | 'shows'> {
  return {
    level: 'namespaces',
    placesOf: () => JOB_PLACES,
    shows: (path) => isShown(view, path),
  };
}

/** Level `namespaces` by bubblewrap. */
export function bubblewrap(
  program: string,
  means: string,
  input: NamespacesInput & { hasFilter: boolean },
): Isolation {
  const shared = sharedArguments(input);
  const commandOf = ({ path, uid, hasNetwork, hasToken, devices }: Enclosure): string[] => {
    const own = (name: string, target: string, how = '--bind') => [how, join(path, name), target];
    return [
      ...input.become(uid),
      program,
      // Its own directory stands first, so that a process of no run can be told by the begin of its arguments.
      ...own(RUN_FILES.work, JOB_PLACES.work),
      ...own(RUN_FILES.tmp, JOB_PLACES.tmp),
      ...own(RUN_FILES.launch, JOB_PLACES.launch, '--ro-bind'),
      ...(hasToken ? own(RUN_FILES.token, JOB_PLACES.token, '--ro-bind') : []),
      ...shared,
      ...devices.flatMap((device) => ['--dev-bind', device, `/dev/${basename(device)}`]),
      ...['--remount-ro', '/dev'],
      ...(hasNetwork ? [] : ['--unshare-net']),
      ...['--remount-ro', '/', '--chdir', JOB_PLACES.work],
      // The last word is read by nobody but who looks for orphaned processes.
      ...['--', '/bin/sh', JOB_PLACES.launch, path],
    ];
  };
  // Bubblewrap's own pid 1 is never waited for, and so nobody would be told what the program has used.
  const launchesAsInit = true;
  return { ...inNamespaces(input.view), means, hasDescriptors: true, launchesAsInit, commandOf };
}

function sharedArguments(input: NamespacesInput & { hasFilter: boolean }): string[] {
  const { view, etc, shmBytes, hasFilter } = input;
  const all = (option: string, paths: readonly string[]) =>
    paths.flatMap((path) => [option, path, path]);
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts'],
    ...['--unshare-cgroup-try', '--die-with-parent', '--new-session', '--as-pid-1'],
    ...['--uid', String(INNER_ID), '--gid', String(INNER_ID), '--hostname', 'job'],
    ...['--json-status-fd', String(STATUS_FD)],
    ...(hasFilter ? ['--seccomp', String(FILTER_FD)] : []),
    ...all('--ro-bind', view.shown),
    ...[...view.links].flatMap(([path, target]) => ['--symlink', target, path]),
    ...['--ro-bind', join(etc, 'passwd'), '/etc/passwd'],
    ...['--ro-bind', join(etc, 'group'), '/etc/group'],
    ...['--symlink', '../tmp', '/var/tmp', '--symlink', '../run', '/var/run'],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', String(shmBytes), '--tmpfs', '/dev/shm'],
    ...view.binds.flatMap(({ path, isWritable }) => [
      isWritable ? '--bind' : '--ro-bind',
      path,
      path,
    ]),
    ...view.hidden.flatMap((path) => ['--perms', '0555', '--size', '4096', '--tmpfs', path]),
    ...view.hidden.flatMap((path) => ['--remount-ro', path]),
  ];
}
