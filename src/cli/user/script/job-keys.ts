import type { ManifestRequest } from '#src/client/index.js';
import { CommandError } from '../../terminal/command-error.js';
import { given } from '../../terminal/reading.js';
import { fileNameOf, type FilePattern } from './batch-values.js';
import type { WrittenOption } from './grid-lines.js';
import { jobOption, type JobWishes } from './job-options.js';

/** Where a script finds its number in an array, as with sbatch. */
const TASK = 'SLURM_ARRAY_TASK_ID';
const TASK_PLACE = `%(${TASK})s`;
/** Seconds of processor time that a job has unless it asks for more, and the most (docs/manifest.md). */
const USUAL_CPU_SECONDS = 86_400;
const MOST_CPU_SECONDS = 500_000;

/** What options of one place ask for, with everything that is wrong and all that is otherwise than with sbatch. */
export interface ReadOptions {
  wishes: JobWishes;
  faults: string[];
  warnings: string[];
}

/** Reads options in their order; `whereOf` says what stands before a fault or warning. */
export function readOptions(
  options: readonly WrittenOption[],
  whereOf: (option: WrittenOption) => string,
): ReadOptions {
  const read: ReadOptions = { wishes: {}, faults: [], warnings: [] };
  for (const written of options) {
    const { option, value } = written;
    const shown = `${whereOf(written)}${option}${value === undefined ? '' : ` ${value}`}`;
    const warn = (text: string): void => void read.warnings.push(`${shown} ${text}`);
    try {
      Object.assign(read.wishes, wishesOf(written, { before: read.wishes, warn }));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      read.faults.push(`${shown} ${error.message}`);
    }
  }
  return read;
}

function wishesOf(
  { option, value }: WrittenOption,
  reading: { before: JobWishes; warn: (text: string) => void },
): JobWishes {
  const known = jobOption(option);
  if (!known) throw new CommandError('is no option of a job', 2);
  const { reads, ignored, instead = '', isFlag } = known;
  if (ignored !== undefined) reading.warn(`has no effect: ${ignored}`);
  else if (!reads) throw new CommandError(`is not offered here: ${instead}`, 2);
  else if (!isFlag && !value) throw new CommandError('has no value', 2);
  else return reads(value ?? '', reading);
  return {};
}

/** Those of `over` where both ask for one thing; variables are taken of both. */
export function mergedWishes(under: JobWishes, over: JobWishes): JobWishes {
  const environment = { ...under.environment, ...over.environment };
  const merged = { ...under, ...over };
  return Object.keys(environment).length > 0 ? { ...merged, environment } : merged;
}

/** The keys of a manifest that ask for what is wished. `name` is that of the job. Throws CommandError. */
export function keysOf(
  wishes: JobWishes,
  { name, warn }: { name: string; warn: (text: string) => void },
): Partial<ManifestRequest> {
  const { jobGroup, sites, tags, inputData, after, tasksOfArray: tasks } = wishes;
  const processors = processorsOf(wishes);
  const gpus = gpusOf(wishes);
  const megabytes = megabytesOf(wishes, { processors: processors ?? 1, gpus: gpus ?? 0 });
  const environment = { ...variablesOf(wishes), ...wishes.environment };
  return given({
    ...outputsOf(wishes, name),
    JobGroup: jobGroup,
    NumberOfProcessors: processors,
    GPUs: gpus,
    MinRAM: megabytes,
    MaxRAM: megabytes,
    WallTime: wishes.seconds,
    CPUTime: cpuSecondsOf((wishes.seconds ?? 0) * (processors ?? 1), warn),
    Sites: sites,
    Tags: tags,
    InputData: inputData,
    OutputData: wishes.outputData,
    OutputPath: wishes.outputPath,
    After: after,
    Hold: wishes.hold,
    ExecutionEnvironment: Object.keys(environment).length > 0 ? environment : undefined,
    ...(tasks && { [`Parameters.${TASK}`]: tasks }),
  });
}

function processorsOf({ cpus, tasks, cpusPerTask }: JobWishes): number | undefined {
  if (cpus !== undefined) return cpus;
  return tasks === undefined && cpusPerTask === undefined
    ? undefined
    : (tasks ?? 1) * (cpusPerTask ?? 1);
}

function gpusOf({ gpus, tasks }: JobWishes): number | undefined {
  return gpus && gpus.count * (gpus.of === 'task' ? (tasks ?? 1) : 1);
}

function megabytesOf(
  { memory }: JobWishes,
  { processors, gpus }: { processors: number; gpus: number },
): number | undefined {
  const shares = { job: 1, cpu: processors, gpu: Math.max(1, gpus) };
  return memory && memory.megabytes * shares[memory.of];
}

/** A job is also ended after its processor time, which sbatch does not have: it gets what fits into its time. */
function cpuSecondsOf(wanted: number, warn: (text: string) => void): number | undefined {
  if (wanted > MOST_CPU_SECONDS) {
    warn(`a job is ended when it has used ${MOST_CPU_SECONDS} s of processor time (CPUTime)`);
  }
  return wanted > USUAL_CPU_SECONDS ? Math.min(wanted, MOST_CPU_SECONDS) : undefined;
}

/** Variables that Slurm sets for what was asked for, too. */
export function variablesOf({
  tasks,
  cpusPerTask,
  tasksOfArray,
}: JobWishes): Record<string, string> {
  const numbers = {
    SLURM_NTASKS: tasks,
    SLURM_CPUS_PER_TASK: cpusPerTask,
    SLURM_ARRAY_TASK_COUNT: tasksOfArray?.length,
    SLURM_ARRAY_TASK_MIN: tasksOfArray?.reduce((least, one) => Math.min(least, one)),
    SLURM_ARRAY_TASK_MAX: tasksOfArray?.reduce((most, one) => Math.max(most, one)),
  };
  const texts = Object.entries(given(numbers)).map(([key, number]) => [key, String(number)]);
  return Object.fromEntries([...texts, ...(tasksOfArray ? [[TASK, TASK_PLACE]] : [])]) as Record<
    string,
    string
  >;
}

function outputsOf(wishes: JobWishes, name: string): Partial<ManifestRequest> {
  const task = wishes.tasksOfArray && TASK_PLACE;
  const fileOf = (option: string, file: FilePattern | undefined): string | undefined => {
    try {
      return file && fileNameOf(file, { name, task });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      throw new CommandError(`${option} ${file?.pattern} ${error.message}`, 2);
    }
  };
  const StdOutput = fileOf('--output', wishes.stdout);
  const StdError = fileOf('--error', wishes.stderr) ?? StdOutput; // as sbatch does: one file for both
  const OutputSandbox = wishes.outputFiles && [
    ...new Set([StdOutput ?? 'std.out', StdError ?? 'std.err', ...wishes.outputFiles]),
  ];
  return given({ StdOutput, StdError, OutputSandbox });
}
