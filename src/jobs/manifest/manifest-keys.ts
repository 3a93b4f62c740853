import { fold } from './not-offered.js';

/** What a value of a manifest may be; numbers may be written as texts, and a text stands for a list of one. */
interface KeyRules {
  /** A text that is not empty. */
  program: { example: string };
  /** A text, split like a shell splits words, or a list of texts. */
  arguments: { example: string };
  text: object;
  texts: { most?: number };
  /** Another key may be written like this. */
  other: { of: string };
  /** The name of a file without a directory. */
  file: { fallback: string };
  integer: { min: number; max: number; fallback?: number; unit?: string };
  /** true or false. */
  flag: object;
  /** A text or a number that names things. */
  label: { most: number; fallback: string };
  word: { words: readonly string[]; fallback?: string };
  /** An object of texts, or a list of texts `NAME=value`. */
  environment: object;
  /** An object with `scope` and `audience`. */
  token: object;
  /** A list of objects with `jid` or `label`, and `on`. */
  conditions: object;
  /** A list of texts, or of objects with `name`, `path` and `se`. */
  outputs: object;
  /** A text that names one job of a request. */
  jobLabel: object;
  /** How many jobs, or a list of values, one a job. */
  sequence: object;
  number: object;
  /** Set by the service; another value is refused. */
  own: object;
  /** Left out: the service knows it better. */
  dropped: object;
}

/** A key of a manifest: its other spellings, what its value may be, and what it means. */
export type ManifestKey = {
  [Kind in keyof KeyRules]: {
    kind: Kind;
    meaning: string;
    aliases?: readonly string[];
    example?: unknown;
    /** Checked and echoed; nothing else is done with it, and the OpenAPI document does not name it. */
    isKept?: true;
  } & KeyRules[Kind];
}[keyof KeyRules];

const LOG_LEVELS = 'TRACE,DEBUG,VERBOSE,INFO,NOTICE,WARN,ERROR,FATAL,ALWAYS'.split(',');
const MAX_PROCESSORS = 1024;
const MAX_RAM_MB = 100_000_000;
const KEPT = 'Kept and echoed';

/**
 * Manifest keys with a meaning: what the checker, its hints, the OpenAPI document with the typed
 * client, and docs/manifest.md know of them. Every other key is kept and echoed.
 */
export const MANIFEST_KEYS = {
  Executable: {
    kind: 'program',
    meaning: 'An uploaded file, an absolute path, or a name on the PATH of the site.',
    example: '/bin/echo',
  },
  Arguments: {
    kind: 'arguments',
    meaning: 'Split like a shell splits words, without a shell; a list of texts is taken as it is.',
    example: 'hello',
  },
  StdOutput: {
    kind: 'file',
    aliases: ['StdOut'],
    meaning: 'File that takes what the program prints.',
    fallback: 'std.out',
  },
  StdError: {
    kind: 'file',
    aliases: ['StdErr'],
    meaning: 'File that takes what the program prints as errors.',
    fallback: 'std.err',
  },
  InputSandbox: {
    kind: 'texts',
    meaning:
      'Names of uploaded files; uploaded files that are not listed are added. Scripts (`#!`) and programs among them can be executed. `LFN:` and a catalogue path: a file that is fetched as `InputData` is.',
  },
  OutputSandbox: {
    kind: 'texts',
    meaning:
      'Files, directories and patterns that are brought back, `.` for everything; default: both outputs. What is made and not named here is told in the parameter `OutputNotRequested`.',
  },
  InputData: {
    kind: 'texts',
    meaning:
      'Catalogue paths under the virtual organisation, with or without `LFN:`. Where they lie stands in the file that `GRIDGATE_INPUT_DATA` names in the job.',
  },
  InputDataPolicy: {
    kind: 'word',
    words: ['download', 'url'],
    meaning:
      '`download`: files of `InputData` are in the directory of the job before it starts, by their last names; of the same name, by their paths. `url`: it is told where they lie. Default: `download` where a storage element with an address takes files of the virtual organisation. As DIRAC spells it, too.',
  },
  InputDataModule: { kind: 'text', meaning: KEPT, isKept: true },
  OutputData: {
    kind: 'outputs',
    meaning:
      'Files (with `*` and `?`) that are stored at a storage element and registered in the catalogue when the program has ended well: the job is Done when all are. `path` is another one than `name`, relative to `OutputPath`; a directory ends with `/`. Nothing is overwritten. Where no element takes files of the virtual organisation it is kept, with a warning.',
    example: ['hits.root'],
  },
  OutputPath: {
    kind: 'text',
    meaning:
      'Directory of the catalogue for `OutputData`; `%j` is the id. Default: `/<vo>/user/<initial>/<user>/<id in 12 digits>`, which is made.',
  },
  OutputSE: {
    kind: 'texts',
    meaning:
      'Storage elements for `OutputData`, tried in this order. Default: all, as the registry has them',
  },
  Site: { kind: 'other', of: 'Sites', meaning: 'Both together must say the same.' },
  Sites: {
    kind: 'texts',
    meaning: 'Sites on which it may run; none: any.',
    example: ['LOCAL.demo'],
  },
  BannedSite: { kind: 'other', of: 'BannedSites', meaning: 'Both together must say the same.' },
  BannedSites: { kind: 'texts', meaning: 'Sites on which it must not run.' },
  GridCE: { kind: 'texts', meaning: KEPT, isKept: true },
  SubmitPools: { kind: 'texts', meaning: KEPT, isKept: true },
  Platform: { kind: 'texts', meaning: KEPT, isKept: true },
  Tags: {
    kind: 'texts',
    most: 32,
    meaning: 'What the site must have; sites declare their tags in the registry',
    example: ['el9'],
  },
  CPUTime: {
    kind: 'integer',
    min: 100,
    max: 500_000,
    fallback: 86_400,
    unit: 'seconds',
    aliases: ['MaxCPUTime'],
    meaning: 'Seconds of CPU',
    example: 86_400,
  },
  Priority: {
    kind: 'integer',
    min: 0,
    max: 10,
    fallback: 1,
    meaning: 'The queue is ordered by priority, then age',
    example: 1,
  },
  JobName: {
    kind: 'label',
    most: 128,
    fallback: 'Name',
    meaning: 'What to call it',
    example: 'hello',
  },
  JobGroup: { kind: 'label', most: 32, fallback: '00000000', meaning: 'Jobs that belong together' },
  JobType: {
    kind: 'word',
    words: ['User', 'Test', 'Hospital'],
    fallback: 'User',
    meaning: 'Kind of job',
  },
  NumberOfProcessors: {
    kind: 'integer',
    min: 1,
    max: MAX_PROCESSORS,
    meaning: 'Processors that the job gets; default 1. It sees the number as `GRIDGATE_PROCESSORS`',
  },
  MinNumberOfProcessors: {
    kind: 'integer',
    min: 1,
    max: MAX_PROCESSORS,
    meaning: 'Processors that the job gets where `NumberOfProcessors` does not say it',
  },
  MaxNumberOfProcessors: {
    kind: 'integer',
    min: 1,
    max: MAX_PROCESSORS,
    meaning: 'Not less than `MinNumberOfProcessors`',
  },
  MinRAM: {
    kind: 'integer',
    min: 0,
    max: MAX_RAM_MB,
    unit: 'MB',
    meaning: 'MB of memory that must be free where it starts',
  },
  MaxRAM: {
    kind: 'integer',
    min: 1,
    max: MAX_RAM_MB,
    unit: 'MB',
    meaning:
      'MB of memory; a job that takes more is ended. It sees the number as `GRIDGATE_MAX_RAM`',
  },
  WallTime: {
    kind: 'integer',
    min: 1,
    max: 366 * 86_400,
    unit: 'seconds',
    meaning: 'Seconds; a job that runs longer is ended. It sees the number as `GRIDGATE_WALL_TIME`',
  },
  GPUs: { kind: 'integer', min: 0, max: 1024, meaning: 'GPUs that the job gets; default 0' },
  JobConfigArgs: { kind: 'text', meaning: KEPT, isKept: true },
  LogLevel: { kind: 'word', words: LOG_LEVELS, meaning: KEPT, isKept: true },
  ExecutionEnvironment: {
    kind: 'environment',
    meaning:
      'Variables of the program; none may begin with `GRIDGATE_`. A number stands as it was sent.',
  },
  Token: {
    kind: 'token',
    meaning:
      'What the token of the job may do, as far as the submitter may; it stands in the file `BEARER_TOKEN_FILE` (docs/tokens.md)',
    example: { scope: 'jobs:read' },
  },
  After: {
    kind: 'conditions',
    meaning:
      'Jobs that must have ended before it starts: `jid`, or `label` of one of the same request; `on` is `done` (default), `failed` (or killed) or `end`.',
    example: [],
  },
  Hold: {
    kind: 'flag',
    meaning:
      'Held from the start: it waits until it is released (`POST /jobs/<jid>/release`), also by an administrator who has held it as well; default false',
    example: false,
  },
  Label: {
    kind: 'jobLabel',
    meaning: 'Names the job for `After` of others of the same request; not of a parametric job.',
    example: 'first',
  },
  SoftwareDistModule: { kind: 'text', meaning: KEPT, isKept: true },
  Parameters: {
    kind: 'sequence',
    meaning:
      'One job for each value, which stands for `%s`; `Parameters.<name>` for `%(<name>)s`. `%n` is its number. A number of a list stands as it was sent: `1.0` stays `1.0`.',
  },
  ParameterStart: { kind: 'number', meaning: 'First number of a counted sequence; default 1' },
  ParameterStep: { kind: 'number', meaning: 'Is added from job to job; default 0' },
  ParameterFactor: {
    kind: 'number',
    meaning: 'Multiplies from job to job, whole numbers with all digits, others with 15; default 1',
  },
  Owner: { kind: 'own', meaning: 'The submitter' },
  OwnerGroup: { kind: 'own', meaning: 'Group of the token' },
  OwnerDN: { kind: 'own', meaning: 'Distinguished name of the submitter' },
  VirtualOrganization: { kind: 'own', meaning: 'Virtual organisation of the group' },
  Setup: { kind: 'own', meaning: 'Setup of the token' },
  JobID: { kind: 'dropped', meaning: 'Id of the job' },
  JobRequirements: { kind: 'dropped', meaning: 'What older services wrote here' },
} as const satisfies Record<string, ManifestKey>;

/** The keys whose values are of a kind. */
export type KeyOfKind<Kind extends keyof KeyRules> = {
  [Key in keyof typeof MANIFEST_KEYS]: (typeof MANIFEST_KEYS)[Key]['kind'] extends Kind
    ? Key
    : never;
}[keyof typeof MANIFEST_KEYS];

const ENTRIES: readonly [string, ManifestKey][] = Object.entries(MANIFEST_KEYS);

/** All keys with what is known of them. */
export function manifestKeys(): readonly [string, ManifestKey][] {
  return ENTRIES;
}

/** The keys of a kind. */
export function keysOfKind<Kind extends keyof KeyRules>(kind: Kind): KeyOfKind<Kind>[] {
  return ENTRIES.filter(([, key]) => key.kind === kind).map(([name]) => name as KeyOfKind<Kind>);
}

/** The keys of a kind that are checked and echoed, and nothing else. */
export function keptKeys(kind: keyof KeyRules): string[] {
  return ENTRIES.filter(([, key]) => key.kind === kind && key.isKept).map(([name]) => name);
}

/** Spellings of sample programs that are taken for the key, with a warning. */
export const KEY_ALIASES: ReadonlyMap<string, string> = new Map(
  ENTRIES.flatMap(([name, { aliases = [] }]) => aliases.map((alias) => [alias, name] as const)),
);

/** Keys of parametric jobs, each also for a named sequence: `Parameters.x`. */
export const PARAMETER_KEY = /^Parameter(s|Start|Step|Factor)(?:\.([\w-]+))?$/;

/** What neighbours call a key. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ memory: 'MaxRAM', mem: 'MaxRAM', ram: 'MaxRAM', memorymb: 'MaxRAM' },
  ...{ cpus: 'NumberOfProcessors', cores: 'NumberOfProcessors', processors: 'NumberOfProcessors' },
  ...{ cpuspertask: 'NumberOfProcessors', ncpus: 'NumberOfProcessors' },
  ...{ time: 'WallTime', timelimit: 'WallTime', maxtime: 'WallTime', walltimelimit: 'WallTime' },
  ...{ environment: 'ExecutionEnvironment', env: 'ExecutionEnvironment' },
  ...{ output: 'OutputSandbox', outputfiles: 'OutputSandbox', outputs: 'OutputSandbox' },
  ...{ inputfiles: 'InputSandbox', inputs: 'InputSandbox', name: 'JobName', group: 'JobGroup' },
};

const FOLDED: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ELSEWHERE),
  ...ENTRIES.map(([name]) => [fold(name), name] as const),
  ...[...KEY_ALIASES].map(([alias, name]) => [fold(alias), name] as const),
]);

/** True for keys with a meaning, named sequences of parametric jobs included. */
export function isKnownKey(key: string): boolean {
  return Object.hasOwn(MANIFEST_KEYS, key) || PARAMETER_KEY.test(key);
}

/** The key that somebody who wrote `key` probably meant; undefined when nothing is near. */
export function nearestKey(key: string): string | undefined {
  const folded = fold(key);
  const same = FOLDED.get(folded);
  if (same !== undefined) return same;
  if (folded.length < 4) return undefined;
  for (const [candidate, known] of FOLDED) {
    if (Math.abs(candidate.length - folded.length) <= 1 && isOneEditAway(candidate, folded)) {
      return known;
    }
  }
  return undefined;
}

/** One letter added, lost, changed, or two neighbours swapped. */
function isOneEditAway(left: string, right: string): boolean {
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  const a = left.slice(start);
  const b = right.slice(start);
  if (a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1)) return true;
  return (
    a.length > 1 &&
    b.length > 1 &&
    a.at(0) === b.at(1) &&
    a.at(1) === b.at(0) &&
    a.slice(2) === b.slice(2)
  );
}
