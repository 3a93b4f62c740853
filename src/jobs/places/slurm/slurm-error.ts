/**
 * What an answer of slurmrestd means for the caller:
 * `away` — nobody knows whether it happened, ask again · `unknown-job` · `ended` — nothing left to cancel ·
 * `denied` — the account may not · `refused` — it will never work like that.
 */
export type SlurmFault = 'away' | 'unknown-job' | 'ended' | 'denied' | 'refused';

/** A call that did not work. The message has Slurm's own words and never a token. */
export class SlurmError extends Error {
  constructor(
    readonly fault: SlurmFault,
    message: string,
    /** Slurm's error number; 0 when the transport failed. */
    readonly number: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SlurmError';
  }
}

const NO_CHANGE = 1900;
const PERMANENT_FROM = 2000;
const PERMANENT_TO = 2999;

/**
 * Numbers between 2000 and 2999 that pass by themselves: no record made, nodes busy, controller in stand-by,
 * job (or its index) being altered, submissions switched off, partition down, node or partition drained.
 */
const PASSING: ReadonlySet<number> = new Set([
  2007, 2016, 2019, 2020, 2027, 2037, 2068, 2070, 2101, 2103, 2105, 2131,
]);

const BY_NUMBER: ReadonlyMap<number, SlurmFault> = new Map([
  [2002, 'denied'],
  [2017, 'unknown-job'],
  [2021, 'ended'],
  [2084, 'ended'],
  [2086, 'ended'],
  // A body that this slurmrestd does not understand: it will not later.
  [9001, 'refused'],
]);

/** One entry of `errors` in an answer; the name of the number differs between plug-ins. */
export interface SlurmErrorEntry {
  error?: string;
  description?: string;
  error_number?: number;
  error_code?: number;
}

/**
 * The error of an answer, by number and not by HTTP status: slurmrestd answers 500 for nearly everything, a bad
 * token ("Unspecified error", -1) and an unknown job (2017) alike. Undefined when the answer has no error.
 */
export function errorOfAnswer(
  status: number,
  entries: readonly SlurmErrorEntry[],
): SlurmError | undefined {
  const first = entries.find((entry) => ![0, NO_CHANGE].includes(numberOf(entry)));
  if (first !== undefined) {
    const number = numberOf(first);
    const text = first.description ?? first.error ?? 'no description';
    return new SlurmError(faultOfNumber(number), `${text} (${number})`, number);
  }
  if (status === 200 || status === 304) return undefined;
  if (status === 401) return new SlurmError('away', 'slurmrestd refuses the token', 0);
  // Plain text without a number: a path or a body that this slurmrestd does not understand.
  if (status === 400 || status === 404 || status === 415) {
    return new SlurmError('refused', `slurmrestd does not understand the request (${status})`, 0);
  }
  return new SlurmError('away', `slurmrestd answered ${status}`, 0);
}

function numberOf(entry: SlurmErrorEntry): number {
  return entry.error_number ?? entry.error_code ?? 0;
}

function faultOfNumber(number: number): SlurmFault {
  const known = BY_NUMBER.get(number);
  if (known !== undefined) return known;
  const isPermanent = number >= PERMANENT_FROM && number <= PERMANENT_TO;
  return isPermanent && !PASSING.has(number) ? 'refused' : 'away';
}
