import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { BatchWait } from './batch-wait.js';
import type { Jid } from './job.js';
import type { JobState } from './job-state.js';

const TIME = { type: 'timestamptz', precision: 3 } as const;

/** Who has held a job: only an administrator releases what one has held. */
export type Holder = 'owner' | 'administrator' | 'jobs';

/** A job as its record shows it: the columns that are read wherever a job is. */
export class Job {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  jid!: Jid;

  @Column('text')
  setup!: string;

  @Column('text')
  owner!: string;

  @Column('text')
  ownerDn!: string;

  @Column('text')
  ownerGroup!: string;

  /** Virtual organisation of the group it was submitted in, '' without one. */
  @Column('text')
  vo!: string;

  @Column('text')
  status!: JobState;

  @Column('text')
  minorStatus!: string;

  @Column('text', { default: 'Unknown' })
  appStatus!: string;

  @Column('text')
  name!: string;

  @Column('text')
  jobGroup!: string;

  @Column('text')
  jobType!: string;

  @Column('text')
  site!: string;

  @Column('integer')
  priority!: number;

  /** Seconds that were asked for. */
  @Column('integer')
  cpuTime!: number;

  @Column('integer', { default: 0 })
  reschedules!: number;

  @Column('text', { array: true, default: [] })
  wantedSites!: string[];

  @Column('text', { array: true, default: [] })
  bannedSites!: string[];

  @Column('boolean', { default: false })
  verified!: boolean;

  @Column('boolean', { default: false })
  retrieved!: boolean;

  @Column('boolean', { default: false })
  accounted!: boolean;

  @Column('text', { nullable: true })
  inputSandbox!: string | null;

  @Column('text', { nullable: true })
  outputSandbox!: string | null;

  @Column(TIME)
  submissionTime!: Date;

  @Column(TIME)
  lastUpdate!: Date;

  @Column({ ...TIME, nullable: true })
  heartBeat!: Date | null;

  @Column({ ...TIME, nullable: true })
  startExecution!: Date | null;

  @Column({ ...TIME, nullable: true })
  endExecution!: Date | null;

  @Column({ ...TIME, nullable: true })
  rescheduleTime!: Date | null;

  @Column('text', {
    nullable: true,
    comment:
      'who holds something of the job that must be looked after: a claim, a run, or a run to be ended',
  })
  executor!: string | null;

  /** Id of the array that it is a member of. */
  @Column('bigint', { nullable: true })
  arrayId!: number | bigint | null;

  /** Null: nobody holds it back. */
  @Column('text', { nullable: true })
  heldBy!: Holder | null;

  /** Grows with every claim; (jid, attempt) names a run. */
  @Column('integer', { default: 0 })
  attempt!: number;

  /** What the executor noted about the run; for a batch system its id there. */
  @Column('text', { nullable: true })
  runReference!: string | null;

  /** Why it waits in the queue of a batch system, while it is Matched; null until that was asked. */
  @Column('jsonb', { nullable: true })
  batchWait!: BatchWait | null;
}

/**
 * The table `jobs`: a job, and what it asks of a site, which only the queue reads. The column `shape` is not here: PostgreSQL
 * computes it, and TypeORM would keep a table of its own about its expression.
 */
@Entity('jobs')
@Index('jobs_setup', ['setup', 'jid'])
@Index('jobs_owner', ['setup', 'owner', 'jid'])
@Index('jobs_owner_group', ['setup', 'ownerGroup', 'jid'])
@Index('jobs_status', ['setup', 'status', 'jid'])
@Index('jobs_site', ['setup', 'site', 'jid'])
@Index('jobs_name', ['setup', 'name', 'jid'])
@Index('jobs_job_group', ['setup', 'jobGroup', 'jid'])
@Index('jobs_last_update', ['setup', 'lastUpdate', 'jid'])
@Index('jobs_queue', { synchronize: false })
@Index('jobs_unplaceable', { synchronize: false })
@Index('jobs_admission', { synchronize: false })
@Index('jobs_array', { synchronize: false })
@Index('jobs_executor', { synchronize: false })
@Index('jobs_input_sandbox', { synchronize: false })
@Index('jobs_output_sandbox', { synchronize: false })
export class JobEntity extends Job {
  @Column('integer', { default: 1 })
  processors!: number;

  @Column('integer', { default: 0 })
  minRamMb!: number;

  @Column('integer', { default: 0 })
  maxRamMb!: number;

  @Column('integer', { default: 0 })
  gpus!: number;

  @Column('text', { array: true, default: [] })
  tags!: string[];

  /** Seconds; null: as long as the site lets it. */
  @Column('integer', { nullable: true })
  wallTime!: number | null;
}
