import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { ConditionWord } from '../manifest/job-conditions.js';
import type { Jid } from '../state/job.js';

/** That a job waits for another one. */
@Entity('job_dependencies')
@Index('job_dependencies_of', ['jid', 'target', 'condition'], { unique: true })
@Index('job_dependencies_open', { synchronize: false })
export class JobDependencyEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number | bigint;

  @Column('bigint')
  jid!: Jid;

  /** Whose the job is. */
  @Column('text', { default: '' })
  owner!: string;

  @Column('bigint')
  target!: Jid;

  @Column('text')
  condition!: ConditionWord;

  /** Null: nobody knows yet. */
  @Column('text', { nullable: true })
  outcome!: 'met' | 'impossible' | null;
}
