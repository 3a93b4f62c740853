/** How far programs of jobs are kept apart from the service, the machine and each other, from best to none. */
export type IsolationLevel = 'namespaces' | 'accounts' | 'none';

/** What a run is started in. Paths are absolute and of the machine. */
export interface Enclosure {
  /** Directory of the run; what stands in it beside `work` and `tmp` is not the job's. */
  path: string;
  /** The account that the program runs under; undefined for the service's own. */
  uid: number | undefined;
  /** The program may use the machine's network. */
  hasNetwork: boolean;
  /** It has a directory with a token. */
  hasToken: boolean;
  /** Device files of the machine that it gets beside those that every job has; each has its own name in `/dev`. */
  devices: readonly string[];
}

/**
 * One way of keeping programs apart. It only says which command encloses the launch script of a run: starting it, its
 * limits and its end are the same for all ways.
 */
export interface Isolation {
  readonly level: IsolationLevel;
  /** The programs of the machine that do it, for people. */
  readonly means: string;
  /** It wants descriptor 3 for its status and 4 with the filter of system calls. */
  readonly hasDescriptors?: true;
  /** The launch script is pid 1 of the job's own process table: the program is a child of it, not what it becomes. */
  readonly launchesAsInit?: true;
  /** Where the program finds its directories. */
  placesOf(path: string): JobPlaces;
  /** Program and arguments that run `/bin/sh <launch script>` enclosed; the last words of the supervisor's command. */
  commandOf(enclosure: Enclosure): string[];
  /** Whether the program at that absolute path of the machine can be seen by jobs. */
  shows(path: string): boolean;
}

/** Words before a command that change from root to an account, with no right of root's; none for the service's own account. */
export type BecomeAccount = (uid: number | undefined, ...more: string[]) => string[];

/** By setpriv, the program at that path. */
export function becomeBy(setpriv: string): BecomeAccount {
  return (uid, ...more) => {
    if (uid === undefined) return [];
    const ids = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
    return [setpriv, ...ids, '--inh-caps=-all', '--bounding-set=-all', ...more, '--'];
  };
}

/** Directories as the program sees them. */
export interface JobPlaces {
  work: string;
  tmp: string;
  launch: string;
  /** Directory of its token, which it can only read. */
  token: string;
}

/** Names in the directory of a run. */
export const RUN_FILES = {
  work: 'work',
  tmp: 'tmp',
  launch: 'launch',
  token: 'token',
  stdout: 'out',
  stderr: 'err',
} as const;

/** How local jobs are kept apart here, for people: in the log of the start, `gridgate doctor` and /metrics. */
export interface IsolationReport {
  /** `off`: no local job is run. */
  level: IsolationLevel | 'off';
  /** One sentence. */
  reason: string;
  /** Local jobs are allowed here by the settings. */
  isWanted: boolean;
}
