import pLimit from 'p-limit';
import { CommandError } from '../terminal/command-error.js';
import { tell } from '../terminal/output.js';
import { explained } from './failures.js';
import type { GridConnection } from './grid-connection.js';
import { demandChoice, foundBy, isFiltered, type JobFilter } from './job-filter.js';

const AT_ONCE = 8;

/** Jobs to read of. */
export interface Chosen {
  jids: number[];
  /** Exactly one was named: it is shown for itself. */
  isOne: boolean;
}

/** The jobs that are named, or that a filter finds, the first ones first. Throws CommandError. */
export async function chosenJobs(
  grid: GridConnection,
  verb: string,
  { jids, filter }: { jids: readonly number[]; filter: JobFilter },
): Promise<Chosen> {
  demandChoice(verb, jids, filter);
  if (!isFiltered(filter)) {
    const distinct = [...new Set(jids)];
    return { jids: distinct, isOne: distinct.length === 1 };
  }
  const found = (await foundBy(grid, filter)).map(({ jid }) => jid);
  if (found.length === 0) throw new CommandError('no job is found', 2);
  return { jids: found.sort((one, other) => one - other), isOne: false };
}

/**
 * Reads of each job, a few at once, and hands over in their order; a job of which nothing can be had is told, and stops no other.
 * Answers why, by the id.
 */
export async function eachRead<T>(
  grid: GridConnection,
  jids: readonly number[],
  { read, take }: { read: (jid: number) => Promise<T>; take: (jid: number, what: T) => void },
): Promise<Record<number, string>> {
  const missing: Record<number, string> = {};
  const attempt = async (jid: number): Promise<() => void> => {
    try {
      const what = await read(jid);
      return () => take(jid, what);
    } catch (error) {
      const told = explained(error, grid.server);
      if (!isOfOne(told)) throw told;
      return () => {
        missing[jid] = told.message;
        tell(`${jid}: ${told.message}`);
        if (told instanceof CommandError && told.hint !== undefined) tell(`hint: ${told.hint}`);
      };
    }
  };
  // By slices: what has been read and waits for its turn stays little.
  for (let from = 0; from < jids.length; from += AT_ONCE) {
    const slice = jids.slice(from, from + AT_ONCE);
    for (const hand of await pLimit(AT_ONCE).map(slice, attempt)) hand();
  }
  return missing;
}

/** A fault of one job, or of a file here: others may go well. */
function isOfOne(error: unknown): error is Error {
  if (error instanceof CommandError) return error.exitCode <= 2;
  return error instanceof Error && 'syscall' in error && 'path' in error;
}

/** How a command ends when something was missing. */
export function missingFault(
  missing: Record<number, string>,
  jids: readonly number[],
): CommandError | false {
  const { length } = Object.keys(missing);
  return length > 0 && new CommandError(`nothing was fetched of ${length} of ${jids.length} jobs`);
}
