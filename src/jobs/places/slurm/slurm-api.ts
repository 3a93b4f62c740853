import type { BatchUse, UseOf } from './slurm-use.js';

/** A batch job, or an array of them that differ by their index only. */
export interface SlurmSubmission {
  name: string;
  /** By this the jobs are found again when nobody knows whether a submit arrived. */
  comment: string;
  script: string;
  directory: string;
  /** Number of array tasks, with the indices 0 to tasks − 1. */
  tasks: number;
  timeLimitMinutes: number;
  cpus: number;
  memoryMb?: number | undefined;
  gres?: string | undefined;
  constraint?: string | undefined;
  partition?: string | undefined;
  account?: string | undefined;
  qos?: string | undefined;
  environment: Readonly<Record<string, string>>;
}

/** What the controller knows of a job, or of those tasks of an array that have not started (`isArrayRest`). */
export interface SlurmJob {
  jobId: number;
  /** Id of the array, which is also the id of a job that is no array. */
  arrayId: number;
  /** Index of the task; undefined for what is left of an array. */
  index?: number | undefined;
  /** Indices of the tasks that have not started, as Slurm writes them: `3,5-9`. */
  waitingIndices: string;
  state: string;
  reason: string;
  /** When it has started, or is expected to; undefined when Slurm does not know. */
  startMs?: number | undefined;
  comment: string;
  /** Name of its account; empty where slurmrestd cannot tell it, `uid` is there always. */
  user: string;
  uid: number;
  partition: string;
  node: string;
}

/**
 * What a cluster is asked in the name of one account: by slurmrestd, or by Slurm's commands. Throws SlurmError.
 */
export interface SlurmApi {
  readonly user: string;
  /** When the controller, or what leads to it, was last found to be away. */
  readonly lastFaultMs: number;
  /** True for an account that got no answer the last time: others are asked before it. */
  readonly isFailing: boolean;
  /** The same in the name of another account. */
  as(user: string): SlurmApi;
  /** Throws unless the controller answers. */
  ping(): Promise<void>;
  /** Submits a job or an array; answers its id. After a fault `away` nobody knows whether it has arrived. */
  submit(submission: SlurmSubmission): Promise<number>;
  /** All jobs that the controller remembers and shows to the account: everybody's, or its own. */
  jobs(): Promise<SlurmJob[]>;
  /** A job, or every remembered task of an array. Empty when the controller does not know it (any more). */
  job(id: number): Promise<SlurmJob[]>;
  /** Ends a job, a whole array, or one task of it. A job that is gone or has ended is fine. */
  cancel(arrayId: number, index?: number): Promise<void>;
  /**
   * What a job has used, by Slurm's accounting; undefined while that does not know the job to be over. Throws
   * SlurmError `refused` where there is no accounting.
   */
  use(of: UseOf): Promise<BatchUse | undefined>;
  /** Ends the questions that are under way: they fail as `away`. */
  abort(): Promise<void>;
  close(): Promise<void>;
}
