import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Jid } from './job.js';

const TIME = { type: 'timestamptz', precision: 3 } as const;

/** What one run has used, until it is added to the sums of its day. */
@Entity('job_runs')
export class JobRunEntity {
  @PrimaryColumn('bigint')
  jid!: Jid;

  @PrimaryColumn('integer')
  attempt!: number;

  /** When it was written down. */
  @Column(TIME)
  notedAt!: Date;

  @Column(TIME)
  endedAt!: Date;

  @Column('text')
  setup!: string;

  /** Virtual organisation of the group, '' without one. */
  @Column('text')
  vo!: string;

  @Column('text')
  ownerGroup!: string;

  @Column('text')
  owner!: string;

  @Column('text')
  site!: string;

  @Column('text', { default: '' })
  jobGroup!: string;

  @Column('boolean')
  isDone!: boolean;

  @Column('integer')
  processors!: number;

  @Column('double precision')
  wallSeconds!: number;

  /** Null: nobody measured it; likewise the memory. */
  @Column('double precision', { nullable: true })
  cpuSeconds!: number | null;

  /** The most that it had at one time, MB of 2^20 bytes. */
  @Column('double precision', { nullable: true })
  usedMb!: number | null;

  @Column('double precision', { nullable: true })
  givenMb!: number | null;
}
