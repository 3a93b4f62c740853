/** What a run was given and has used. Absent: nobody measured it. */
export interface RunUse {
  wallSeconds: number;
  cpuSeconds?: number | undefined;
  /** The most memory that all of its processes had at one time, as far as it was looked at. */
  maxRssBytes?: number | undefined;
  processors: number;
  /** MB of 2^20 bytes. */
  memoryMb?: number | undefined;
}
