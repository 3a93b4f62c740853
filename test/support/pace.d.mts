/** Milliseconds of processor time as they would be on a processor of usual speed; never more than they were. */
export function atUsualPace(milliseconds: number): number;
