/** What a batch system says of a job that was submitted to it and has not begun, as the job's row has it. */
export interface BatchWait {
  /** In the words of the batch system, without names of other communities. */
  reason: string;
  /** What that means, as a sentence without a full stop; undefined for a reason that is not known. */
  meaning?: string;
  /** When it is to start by what the batch system knows now, ISO 8601; undefined when it does not tell. */
  expectedStart?: string;
  /** When it was said, ISO 8601. */
  asOf: string;
}
