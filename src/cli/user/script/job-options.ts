import type { OptionRow } from '../../terminal/command.js';
import { pairOf } from '../../terminal/reading.js';
import {
  badValue,
  conditionsOf,
  countOf,
  gpusOf,
  megabytesOf,
  secondsOf,
  tasksOf,
  type FilePattern,
} from './batch-values.js';
import type { WrittenOption } from './grid-lines.js';

/** What a job asks for, beside its program. */
export interface JobWishes {
  jobName?: string;
  jobGroup?: string;
  /** Processors of the job, or tasks and the processors of each. */
  cpus?: number | undefined;
  tasks?: number | undefined;
  cpusPerTask?: number | undefined;
  memory?: { megabytes: number; of: 'job' | 'cpu' | 'gpu' };
  gpus?: { count: number; of: 'job' | 'task' };
  /** Undefined where the limit of the service is enough. */
  seconds?: number | undefined;
  stdout?: FilePattern;
  stderr?: FilePattern;
  sites?: string[];
  tags?: string[];
  environment?: Record<string, string>;
  inputData?: string[];
  outputFiles?: string[];
  /** Files for a storage element, and the directory of the catalogue for them. */
  outputData?: string[];
  outputPath?: string;
  /** It waits until it is released. */
  hold?: boolean;
  /** Input files, by their paths here. */
  files?: string[];
  after?: ReturnType<typeof conditionsOf>;
  /** Numbers of the jobs of an array. */
  tasksOfArray?: number[];
}

/** What an option is read with. */
interface Reading {
  /** What options before it have asked for. */
  before: JobWishes;
  warn: (text: string) => void;
}

/** An option of a job: in `#GRID` lines by each of its names, on the command line by the long ones. */
export interface JobOption {
  names: readonly string[];
  /** What it asks for. Throws CommandError, whose text goes on behind the option and its value. */
  reads?: (text: string, reading: Reading) => JobWishes;
  /** It has no effect here; why that does no harm. */
  ignored?: string;
  /** It is refused; what works instead. */
  instead?: string;
  /** It takes no value. */
  isFlag?: true;
  /** It adds to what the same option has said before. */
  isList?: true;
  /** Of the command line: the value in the help, and what it says. Without it the help does not name the option. */
  help?: readonly [value: string, text: string];
  /** The command line has an option of this name that is declared with its command. */
  isDeclared?: true;
}

const taken: JobOption[] = [
  {
    names: ['cpus'],
    help: ['number', 'processors of the job'],
    reads: (text) => ({ cpus: countOf(text), tasks: undefined, cpusPerTask: undefined }),
  },
  {
    names: ['cpus-per-task', 'c'],
    reads: (text) => ({ cpusPerTask: countOf(text), cpus: undefined }),
  },
  {
    names: ['ntasks', 'ntasks-per-node', 'n'],
    reads: (text) => ({ tasks: countOf(text), cpus: undefined }),
  },
  { names: ['nodes', 'N'], reads: oneNode },
  {
    names: ['mem'],
    help: ['size', 'memory, 4000 (MB) or 4G: it must be free, and a job that takes more is ended'],
    reads: (text) => ({ memory: { megabytes: megabytesOf(text), of: 'job' } }),
  },
  {
    names: ['mem-per-cpu'],
    reads: (text) => ({ memory: { megabytes: megabytesOf(text), of: 'cpu' } }),
  },
  {
    names: ['mem-per-gpu'],
    reads: (text) => ({ memory: { megabytes: megabytesOf(text), of: 'gpu' } }),
  },
  {
    names: ['time', 't'],
    help: ['time', 'how long it may run: minutes, H:MM:SS or D-HH:MM:SS'],
    reads: (text) => ({ seconds: secondsOf(text) }),
  },
  {
    names: ['gpus', 'gpus-per-node', 'gres', 'G'],
    help: ['number', 'GPUs of the job'],
    reads: (text) => ({ gpus: { count: gpusOf(text), of: 'job' } }),
  },
  { names: ['gpus-per-task'], reads: (text) => ({ gpus: { count: gpusOf(text), of: 'task' } }) },
  {
    names: ['site'],
    isList: true,
    help: ['name', 'a site where it may run'],
    reads: (text, { before }) => ({ sites: [...(before.sites ?? []), ...listOf(text)] }),
  },
  {
    names: ['tag'],
    isList: true,
    help: ['name', 'what the site must have'],
    reads: (text, { before }) => ({ tags: [...(before.tags ?? []), ...listOf(text)] }),
  },
  {
    names: ['constraint', 'C'],
    isList: true,
    reads: (text, { before }) => {
      if (!/^[^|*[\]()]+$/.test(text)) {
        throw badValue('is more than names that must all be there: give each by --tag');
      }
      return { tags: [...(before.tags ?? []), ...text.split(/[&,]/)] };
    },
  },
  {
    names: ['env'],
    isList: true,
    help: ['name=value', 'variable of the program; without =value the one of this shell'],
    reads: (text, { before }) => ({ environment: { ...before.environment, ...variable(text) } }),
  },
  { names: ['export'], isList: true, reads: exported },
  {
    names: ['input-data'],
    isList: true,
    help: ['path', 'file of the catalogue that is brought to the job'],
    reads: (text, { before }) => ({ inputData: [...(before.inputData ?? []), text] }),
  },
  {
    names: ['output-file'],
    isList: true,
    help: ['name', 'file or pattern that is brought back, . for everything'],
    reads: (text, { before }) => ({ outputFiles: [...(before.outputFiles ?? []), text] }),
  },
  {
    names: ['output-data'],
    isList: true,
    help: [
      'name',
      'file or pattern that is put into the catalogue when the program has ended well',
    ],
    reads: (text, { before }) => ({ outputData: [...(before.outputData ?? []), text] }),
  },
  {
    names: ['output-path'],
    help: ['path', 'directory of the catalogue for --output-data'],
    reads: (outputPath) => ({ outputPath }),
  },
  {
    names: ['output', 'o'],
    isDeclared: true,
    reads: (pattern, { warn }) => ({ stdout: { pattern, warn } }),
  },
  { names: ['error', 'e'], reads: (pattern, { warn }) => ({ stderr: { pattern, warn } }) },
  { names: ['job-name', 'J'], reads: (jobName) => ({ jobName }) },
  { names: ['name'], isDeclared: true, reads: (jobName) => ({ jobName }) },
  { names: ['group'], isDeclared: true, reads: (jobGroup) => ({ jobGroup }) },
  {
    names: ['file'],
    isDeclared: true,
    reads: (text, { before }) => ({ files: [...(before.files ?? []), text] }),
  },
  { names: ['array', 'a'], isDeclared: true, reads: arrayed },
  {
    names: ['dependency', 'd'],
    isList: true,
    reads: (text, { before }) => ({ after: [...(before.after ?? []), ...conditionsOf(text)] }),
  },
  {
    names: ['hold', 'H'],
    isFlag: true,
    help: ['', 'it waits until `gridgate release JID`'],
    reads: () => ({ hold: true }),
  },
  { names: ['parsable', 'quiet', 'Q'], isFlag: true, reads: () => ({}) },
];

const ignored: JobOption[] = [
  { names: ['partition', 'p'], ignored: 'sites are chosen by --site, or by what they have: --tag' },
  { names: ['account', 'A', 'wckey'], ignored: 'jobs are counted for the group of the login' },
  { names: ['qos', 'q', 'nice'], ignored: 'the share of your group decides who is next' },
  {
    names: ['mail-type', 'mail-user'],
    ignored: 'no mail is sent; --wait waits for the end, `gridgate watch` and webhooks tell of it',
  },
  { names: ['comment'], ignored: '--name and --group are what jobs are found by' },
  { names: ['open-mode'], ignored: 'each job has files of its own' },
  {
    names: ['requeue', 'no-requeue'],
    isFlag: true,
    ignored: 'the service decides; `gridgate retry` runs a failed job again',
  },
  { names: ['time-min'], ignored: 'a job gets what --time says' },
  { names: ['verbose', 'v', 'get-user-env', 'ignore-pbs'], isFlag: true, ignored: 'nothing here' },
  {
    names: ['hint', 'threads-per-core', 'distribution', 'm', 'cpu-bind', 'mem-bind', 'gpu-bind'],
    ignored: 'the site chooses which of its processors a job gets',
  },
];

const CLOSEST = '--site names sites, --tag what they must have';
const WITH_COMMAND = 'it belongs to the command line: gridgate submit, before the script';

const refused: JobOption[] = [
  {
    names: ['exclusive', 'overcommit', 'O', 'oversubscribe', 's'],
    isFlag: true,
    instead: 'a job has the processors that it asks for, and nobody else has them: --cpus',
  },
  {
    names: ['chdir', 'workdir', 'D'],
    instead: 'a job begins in a directory of its own: --file sends what it needs there',
  },
  { names: ['begin', 'b', 'deadline'], instead: 'jobs start as soon as they can: --dependency' },
  { names: ['nodelist', 'w', 'exclude', 'x', 'nodefile', 'F'], instead: CLOSEST },
  { names: ['clusters', 'M', 'cluster', 'reservation', 'licenses', 'L'], instead: CLOSEST },
  { names: ['input', 'i'], instead: 'send the file by --file, and let the script read it' },
  { names: ['wrap'], instead: '`gridgate run -- CMD` runs a command' },
  { names: ['export-file'], instead: '--env NAME=value, once for each variable' },
  {
    names: ['signal'],
    instead: 'no signal comes before the end of the time: let the program save its state by itself',
  },
  { names: ['tmp'], instead: 'each job has the same room on disk; the administrator knows it' },
  { names: ['priority'], instead: 'the key Priority of a manifest orders your own jobs' },
  {
    names: ['container'],
    instead: 'upload the program with its libraries, or name by --tag what a site must have',
  },
  {
    names: ['ntasks-per-core', 'ntasks-per-socket', 'ntasks-per-gpu', 'gpus-per-socket'],
    instead: 'ask for processors by --cpus, and for GPUs by --gpus',
  },
  { names: ['cores-per-socket', 'sockets-per-node', 'mincpus', 'B'], instead: 'use --cpus' },
  { names: ['wait', 'W', 'test-only'], isFlag: true, isDeclared: true, instead: WITH_COMMAND },
  { names: ['sweep', 'set', 'exec', 'args'], isDeclared: true, instead: WITH_COMMAND },
  { names: ['dry-run', 'yes'], isFlag: true, isDeclared: true, instead: WITH_COMMAND },
  {
    names: ['after'],
    isDeclared: true,
    instead: 'in a script it is --dependency=afterok:JID',
  },
];

/** All options of jobs. */
export const JOB_OPTIONS: readonly JobOption[] = [...taken, ...ignored, ...refused];

const BY_NAME = new Map(
  JOB_OPTIONS.flatMap((option) => option.names.map((name) => [name, option] as const)),
);

/** The option that is written so (`--time`, `-t`); undefined for an unknown one. */
export function jobOption(written: string): JobOption | undefined {
  const name = written.replace(/^--?/, '');
  const isLong = written.startsWith('--');
  return isLong === name.length > 1 ? BY_NAME.get(name) : undefined;
}

/** Of a short option as sbatch has it, which the command line does not: what to write instead. */
export function shortOptionHint(written: string): string | undefined {
  const letter = /^-([a-zA-Z])/.exec(written)?.[0] ?? '';
  if (letter === '-o')
    return 'the file for what a job prints is named in its script: #GRID --output=NAME';
  const { names: [name = ''] = [], ignored: why, instead } = jobOption(letter) ?? {};
  if (name === '') return undefined;
  if (why !== undefined) return `sbatch's ${letter} has no effect here, leave it out: ${why}`;
  return (
    instead ?? `sbatch's ${letter} is --${name} here; ${letter} itself stands in lines #GRID only`
  );
}

/** Those that the command line declares for them: the ones with a help, and hidden ones as sbatch has them. */
export const JOB_OPTION_ROWS: readonly OptionRow[] = JOB_OPTIONS.filter(
  ({ isDeclared }) => !isDeclared,
).flatMap(({ names, isFlag, isList, help: [value, text] = ['value', 'as sbatch has it'] }) =>
  names
    .filter((name) => name.length > 1)
    .map((name, index): OptionRow => {
      const isShown = text !== 'as sbatch has it' && index === 0;
      const more = { ...(isList && { repeated: true as const }), hidden: !isShown };
      return [isFlag ? `--${name}` : `--${name} <${value}>`, text, more];
    }),
);

/** The options of jobs among those that the command line was given, by their names in camel case. */
export function writtenOptions(given: Readonly<Record<string, unknown>>): WrittenOption[] {
  return JOB_OPTION_ROWS.flatMap(([flags]) => {
    const [name = ''] = flags.slice(2).split(' ');
    const value = given[name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    const values = [value ?? []].flat() as (string | true)[];
    return values.map((one) => ({
      ...{ option: `--${name}`, line: 0 },
      value: one === true ? undefined : one,
    }));
  });
}

function listOf(text: string): string[] {
  return text.split(',').map((word) => word.trim());
}

function oneNode(text: string): JobWishes {
  if (/^1(?:-\d+)?$/.test(text)) return {};
  throw badValue('asks for several nodes, and a job has one: --cpus, or several jobs by --array');
}

function variable(text: string): Record<string, string> {
  const [name, value] = text.includes('=') ? pairOf(text) : [text, process.env[text]];
  if (value === undefined) throw badValue('is no variable of this shell: give NAME=value');
  return { [name]: value };
}

function exported(text: string, { before, warn }: Reading): JobWishes {
  const words = text.split(',').filter((word) => !/^(?:none|nil)$/i.test(word));
  if (words.some((word) => /^all$/i.test(word))) {
    warn('takes no variables of this shell along: name those that it needs by --env');
  }
  const named = words.filter((word) => !/^all$/i.test(word)).map(variable);
  return { environment: Object.assign({}, before.environment, ...named) as Record<string, string> };
}

function arrayed(text: string, { warn }: Reading): JobWishes {
  const { tasks, atOnce } = tasksOf(text);
  if (atOnce !== undefined) warn(`runs as many at once as there are places, not only ${atOnce}`);
  return { tasksOfArray: tasks };
}
