import { basename, join } from 'node:path';
import { RUN_FILES, type Enclosure, type Isolation, type JobPlaces } from './isolation.js';
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
  /** Words before the command: give up root's rights for those of an account. */
  becomeAccount: (uid: number) => string[];
}

/** Level `namespaces` by bubblewrap. */
export class Bubblewrap implements Isolation {
  readonly level = 'namespaces';
  readonly sharesNetwork = false;
  readonly hasDescriptors = true;
  /** Bubblewrap's own pid 1 is never waited for, and so nobody would be told what the program has used. */
  readonly launchesAsInit = true;
  private readonly shared: readonly string[];

  constructor(
    private readonly program: string,
    readonly means: string,
    private readonly input: NamespacesInput & { hasFilter: boolean },
  ) {
    this.shared = sharedArguments(input);
  }

  placesOf(): JobPlaces {
    return JOB_PLACES;
  }

  shows(path: string): boolean {
    return isShown(this.input.view, path);
  }

  commandOf({ path, uid, hasNetwork, hasToken, devices }: Enclosure): string[] {
    const own = (name: string, target: string, how = '--bind') => [how, join(path, name), target];
    return [
      ...(uid === undefined ? [] : this.input.becomeAccount(uid)),
      this.program,
      // Its own directory stands first, so that a process of no run can be told by the begin of its arguments.
      ...own(RUN_FILES.work, JOB_PLACES.work),
      ...own(RUN_FILES.tmp, JOB_PLACES.tmp),
      ...own(RUN_FILES.launch, JOB_PLACES.launch, '--ro-bind'),
      ...(hasToken ? own(RUN_FILES.token, JOB_PLACES.token, '--ro-bind') : []),
      ...this.shared,
      ...devices.flatMap((device) => ['--dev-bind', device, `/dev/${basename(device)}`]),
      ...['--remount-ro', '/dev'],
      ...(hasNetwork ? [] : ['--unshare-net']),
      ...['--remount-ro', '/', '--chdir', JOB_PLACES.work],
      // The last word is read by nobody but who looks for orphaned processes.
      ...['--', '/bin/sh', JOB_PLACES.launch, path],
    ];
  }
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
