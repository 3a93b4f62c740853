/** A stall that is known: `pattern` fits its description, from the day `until` (YYYY-MM-DD) it fails the run again. */
export interface StallException {
  pattern: RegExp;
  until: string;
}

/** Throws when a server that kept its stalls in the directory has stalled for more than 100 ms. */
export function refuseStalls(directory: string, exceptions?: StallException[]): void;
