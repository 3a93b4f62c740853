/** A way of isolation: a column of the page. */
export type Way = 'bubblewrap' | 'utilLinux' | 'accounts' | 'none';

/** What programs know of the machine that they attack. */
export interface Target {
  home: string;
  /** Pid of the service, and of what runs its jobs. */
  server: number;
  worker: number;
  port: string;
  databasePort: string;
  /** A word that this run alone uses: an argument of `sleep`, part of names of files. */
  mark: string;
  /** What stands in the environment of the neighbour. */
  secret: string;
  /** Abstract socket of the machine. */
  abstract: string;
  /** What everybody may read and write: a file, its directory, a socket in it. */
  open: { file: string; directory: string; socket: string };
  /** A neighbour's running job: directory of its run, pid of its program, its abstract socket. */
  neighbour: { directory: string; pid: number; abstract: string };
}

/** What a hostile program tries; it prints HARM when it could. Texts of ways say that, and how, it can. */
export interface Thing {
  thing: string;
  /** What stops it. */
  sentence: string;
  script: (target: Target) => string;
  leaks?: Partial<Record<Way, string>>;
  /** It leaks only where the kernel is set so. */
  where?: { setting: string; values: readonly string[] };
  /** Only the filter of system calls stops it: without bubblewrap that needs perl. */
  isByFilter?: boolean;
  /** Leaves something behind. */
  remains?: Partial<Record<Way, string>>;
  /** It can, and the suite does not try it: it would end the service, or luck decides. */
  notRun?: Partial<Record<Way, string>>;
  /** Without it the machine has nothing to attack. */
  needs?: string;
  /** The limit that ends it. */
  limit?: 'memory' | 'disk' | 'files' | 'processes';
  /** Jobs that try it; 1 unless told. */
  tries?: number;
}

export const WAYS: Record<Way, string>;
export const THINGS: Record<string, readonly Thing[]>;
export function thingsTables(): string[];
