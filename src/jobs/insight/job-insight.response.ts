import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { INT64, TIME } from '../state/job.openapi.js';

/** One move of a job. */
export class JobHistoryEntry {
  status!: string;
  minorStatus!: string;
  appStatus!: string;
  @ApiProperty(TIME)
  time!: string;
  /** Who moved it: `REST`, `Dispatcher`, an executor, `Reaper`, or a person. */
  source!: string;
}

/** All moves of a job, oldest first. */
export class JobHistoryResponse {
  history!: JobHistoryEntry[];
}

/** The end of the running output. */
export class JobPeekResponse {
  stdout!: string;
  stderr!: string;
}

/** What the owner of a job has had of the processors, and is due, among the groups that you see; shares are parts of 1. */
export class JobShareResponse {
  /** The group of the job */
  group!: string;
  /** Its weight beside other groups */
  weight!: number;
  /** What the group has had of all that was used lately */
  used!: number;
  /** What it is due by its weight, beside the other groups that have used something lately or wait */
  due!: number;
  /** What the owner has had of what the group has used */
  ownerUsed!: number;
  /** Owners who have waiting jobs and come before this one, since they or their groups have had less */
  ownersBefore!: number;
}

/** What the batch system of its site says of a job that waits in its queue. */
export class JobBatchQueueResponse {
  /** Why it has not begun, in the words of the batch system
   * @example 'Resources' */
  reason!: string;
  /** What that means, as a sentence without a full stop; absent for a reason that the service does not know
   * @example 'What it needs is in use by other jobs' */
  meaning?: string;
  /** When it starts by what the batch system knows now; absent when it does not tell, and it may come otherwise */
  @ApiPropertyOptional(TIME)
  expectedStart?: string;
  /** When the batch system said so: a minute or two ago at most, except while it is away */
  @ApiProperty(TIME)
  asOf!: string;
}

/** Why a job still waits. */
export class JobExplainResponse {
  @ApiProperty({ ...INT64, description: 'Id of the job', example: 4711 })
  jid!: number | bigint;
  status!: string;
  /** What it waits for, or what has become of it
   * @example 'A free place at LOCAL.demo; 3 jobs are in front of it' */
  waitsFor!: string;
  /** Its place in the queue, from 1: among the jobs of its owner where places are shared. Only of a job that waits for its turn, and up to 10000 */
  place?: number;
  /** What decides when the turn of its owner comes; only of a job that waits for its turn, and where places are shared */
  share?: JobShareResponse;
  /** Only of a job that waits in the queue of a batch system, once that was asked about it */
  batchQueue?: JobBatchQueueResponse;
  /**
   * Site → reason.
   * @example { 'LOCAL.demo': 'All slots are taken' }
   */
  sites!: Record<string, string>;
}
