import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { Jid } from './job.js';
import type { JobState } from './job-state.js';

/** One move of a job; rows are only ever added, by the statements that move jobs. */
@Entity('job_history')
@Index('job_history_jid', ['jid', 'id'])
export class JobHistoryEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number | bigint;

  @Column('bigint')
  jid!: Jid;

  @Column('text')
  status!: JobState;

  @Column('text')
  minorStatus!: string;

  @Column('text')
  appStatus!: string;

  @Column({ type: 'timestamptz', precision: 3 })
  time!: Date;

  /** Who moved it: `REST`, `Dispatcher`, an executor, `Reaper`, or a person. */
  @Column('text')
  source!: string;
}
