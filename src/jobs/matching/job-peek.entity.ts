import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Jid } from '../state/job.js';

/** A question for the running output of a job that another instance runs, and its answer. */
@Entity('job_peeks')
export class JobPeekEntity {
  @PrimaryColumn('bigint')
  jid!: Jid;

  @Column({ type: 'timestamptz', precision: 3 })
  askedAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  answeredAt!: Date | null;

  @Column('text', { default: '' })
  stdout!: string;

  @Column('text', { default: '' })
  stderr!: string;
}
