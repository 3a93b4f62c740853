import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { Jid } from '../state/job.js';

/** What has to be dealt with: the end of a job that others wait for, or a job that has to be looked at. */
@Entity('job_dependency_news')
@Index('job_dependency_news_owner', ['owner', 'id'])
export class JobDependencyNewsEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number | bigint;

  @Column('bigint')
  jid!: Jid;

  /** How the job ended; `look` and `again` are about its own conditions. */
  @Column('text')
  what!: string;

  /** The last of the conditions that it concerns. */
  @Column('bigint')
  upto!: number | bigint;

  /** Whose waiting jobs it concerns. */
  @Column('text', { default: '' })
  owner!: string;
}
