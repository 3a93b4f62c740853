import { Problem } from './problem.js';

/** Errors of the system (errno) that the machine is to blame for, as a sentence about it each. */
const FAULTS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk quota is used up',
  EROFS: 'its file system is read-only',
  EIO: 'its disk has a fault',
  EMFILE: 'it has too many open files',
  ENFILE: 'it has too many open files',
  EAGAIN: 'it can start no more processes',
  ENOMEM: 'it is out of memory',
};
const MOST_CAUSES = 8;
/** A machine without room does not get it within seconds. */
const RETRY_AFTER_SECONDS = 10;

/** What no work that is given to the machine is to blame for, and what passes when somebody makes room. */
export class MachineFault extends Error {
  /** `reason` says what is wrong with the machine: "its disk is full". */
  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`fault of the machine: ${reason}`, options);
    this.name = 'MachineFault';
  }
}

/** What is wrong with the machine, when the error or one of its causes says so; undefined for any other error. */
export function machineFaultOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < MOST_CAUSES && current instanceof Error; depth += 1) {
    if (current instanceof MachineFault) return current.reason;
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === 'string' && Object.hasOwn(FAULTS, code)) return FAULTS[code];
    current = current.cause;
  }
  return undefined;
}

/** 503 with `Retry-After` for an error that the machine is to blame for; undefined for any other. */
export function machineProblem(error: unknown): Problem | undefined {
  const reason = machineFaultOf(error);
  if (reason === undefined) return undefined;
  const detail = `The service cannot do this now, since ${reason}: send it again later`;
  return Problem.unavailable(detail, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause: error });
}
