import { ApiProperty } from '@nestjs/swagger';
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

/** Why a job still waits. */
export class JobExplainResponse {
  @ApiProperty({ ...INT64, description: 'Id of the job', example: 4711 })
  jid!: number | bigint;
  status!: string;
  /**
   * Site → reason.
   * @example { 'LOCAL.demo': 'All slots are taken' }
   */
  sites!: Record<string, string>;
}
