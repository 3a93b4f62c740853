import { CommandError } from '../../terminal/command-error.js';

/** A value that an option cannot take; the text goes on behind the option and the value. */
export function badValue(text: string): CommandError {
  return new CommandError(text, 2);
}

/** A whole number from 1 on. Throws CommandError. */
export function countOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw badValue('is no number from 1 on');
}

const TIME_FORMS = 'minutes, minutes:seconds, hours:minutes:seconds or days-hours:minutes:seconds';

/**
 * Seconds of a time as sbatch takes it: `30` (minutes), `30:00`, `1:30:00`, `2-12`, `2-12:30`, `2-12:30:00`. Undefined for one
 * without a limit (`0`, `UNLIMITED`, `INFINITE`). Throws CommandError.
 */
export function secondsOf(text: string): number | undefined {
  if (/^(?:0|-1|unlimited|infinite)$/i.test(text)) return undefined;
  const [, days, clock = ''] = /^(?:(\d{1,5})-)?(\d{1,7}(?::\d{1,7}){0,2})$/.exec(text) ?? [];
  if (clock === '') throw badValue(`is no time: give ${TIME_FORMS}`);
  const parts = clock.split(':').map(Number);
  const [hours = 0, minutes = 0, seconds = 0] =
    days !== undefined || parts.length === 3 ? parts : [0, ...parts];
  const total = Number(days ?? 0) * 86_400 + hours * 3600 + minutes * 60 + seconds;
  if (total > 0) return total;
  throw badValue('is no time at all');
}

const KIB_OF_UNIT: Record<string, number> = { K: 1, M: 1024, G: 1024 ** 2, T: 1024 ** 3 };

/** MB (of 2^20 bytes) of `4000`, `512K`, `4G` or `4GB`. Throws CommandError. */
export function megabytesOf(text: string): number {
  const [, amount, unit = 'M'] = /^(\d{1,9}(?:\.\d{1,3})?)([KMGT])?i?b?$/i.exec(text) ?? [];
  if (amount === undefined) throw badValue('is no amount of memory: give one such as 4000M or 4G');
  const megabytes = Math.ceil((Number(amount) * (KIB_OF_UNIT[unit.toUpperCase()] ?? 0)) / 1024);
  if (megabytes > 0) return megabytes;
  throw badValue('asks for all the memory of a node, which no job gets here: give an amount');
}

/** More than any service makes of one submit; it bounds what is held here. */
const MOST_TASKS = 100_000;

/** The numbers of `1-10`, `0-9:3`, `1,3,5-7`, each once, and what stands behind `%`. Throws CommandError. */
export function tasksOf(text: string): { tasks: number[]; atOnce?: number } {
  const [, list = '', atOnce] = /^([\d,:-]+)(?:%(\d{1,6}))?$/.exec(text) ?? [];
  const tasks = list.split(',').flatMap(taskRange);
  if (list === '' || new Set(tasks).size !== tasks.length) {
    throw badValue('is no list of tasks: give one such as 1-10, 0-9:3 or 1,3,5-7');
  }
  return { tasks, ...(atOnce !== undefined && { atOnce: Number(atOnce) }) };
}

/** Twice the same one, which no list has, for what is no range. */
function taskRange(text: string): number[] {
  const [, from, to = from, step = '1'] =
    /^(\d{1,7})(?:-(\d{1,7})(?::([1-9]\d{0,6}))?)?$/.exec(text) ?? [];
  const count = Math.floor((Number(to) - Number(from)) / Number(step)) + 1;
  if (from === undefined || count < 1) return [0, 0];
  if (count > MOST_TASKS) throw badValue(`makes ${count} jobs, at most ${MOST_TASKS} go in one`);
  return Array.from({ length: count }, (_, index) => Number(from) + index * Number(step));
}

/** `gpu:2`, `gpu` and `2`; a kind of GPU is refused. Throws CommandError. */
export function gpusOf(text: string): number {
  const words = text.replace(/^gres[:/]/, '').split(':');
  if (words[0] === 'gpu' && words.length > 1) words.shift();
  if (words.length === 1 && words[0] === 'gpu') return 1;
  if (words.length === 1 && /^(?:0|[1-9]\d{0,3})$/.test(words[0] ?? '')) return Number(words[0]);
  throw badValue(
    'names more than a number of GPUs: ask for the number, and for the kind by --tag, as sites call it',
  );
}

interface Condition {
  jid: number;
  on: 'done' | 'failed' | 'end';
}

const CONDITIONS: Record<string, Condition['on']> = {
  afterok: 'done',
  afternotok: 'failed',
  afterany: 'end',
};

/** `afterok:7:8,afterany:9` as the conditions that they are. Throws CommandError. */
export function conditionsOf(text: string): Condition[] {
  return text.split(',').flatMap((part) => {
    const [kind = '', ...jids] = part.split(':');
    const on = Object.hasOwn(CONDITIONS, kind) ? CONDITIONS[kind] : undefined;
    if (
      on === undefined ||
      jids.length === 0 ||
      !jids.every((jid) => /^[1-9]\d{0,14}$/.test(jid))
    ) {
      throw badValue(
        'is not offered here: give afterok, afternotok or afterany with ids of jobs, all of which must hold',
      );
    }
    return jids.map((jid) => ({ jid: Number(jid), on }));
  });
}

/** A pattern of sbatch for the name of a file: `%x` is the name of the job, `%j` its id, `%a` the number in an array. */
export interface FilePattern {
  pattern: string;
  /** Told what is otherwise than with sbatch. */
  warn: (text: string) => void;
}

/** The pattern as the manifest takes it, once the name is known. Throws CommandError. */
export function fileNameOf(
  { pattern, warn }: FilePattern,
  { name, task }: { name: string; task: string | undefined },
): string | undefined {
  if (pattern === '/dev/null') {
    warn('is left out: what is written is kept in its usual file');
    return undefined;
  }
  const file = pattern.slice(pattern.lastIndexOf('/') + 1);
  if (file !== pattern) {
    warn(
      `becomes ${file}: what a job writes comes back by \`gridgate output\`, without a directory`,
    );
  }
  const values: Record<string, string | undefined> = {
    ...{ '%': '%', j: '%j', A: '%j', x: name.replaceAll('/', '_'), a: task },
  };
  return file.replace(/%(.?)/g, (place, letter: string) => {
    const value = Object.hasOwn(values, letter) ? values[letter] : undefined;
    if (value === undefined) {
      const known = task === undefined ? '%j and %x' : '%j, %x and %a';
      throw badValue(`has ${place}, which is not known here: ${known} are`);
    }
    if (letter === 'A' && task !== undefined) warn('has %A, which becomes the id of each job here');
    return value;
  });
}
