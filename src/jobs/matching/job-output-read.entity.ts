import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import type { Jid } from '../state/job.js';

/** A question for bytes of the output of a job that another instance runs, and its answer. */
@Entity('job_output_reads')
export class JobOutputReadEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number | bigint;

  @Column('bigint')
  jid!: Jid;

  /** Name of the file. */
  @Column('text')
  name!: string;

  /** First byte that is wanted; less than nothing counts from the end. */
  @Column('bigint')
  wantedFrom!: number | bigint;

  @Column('integer')
  mostBytes!: number;

  @Column({ type: 'timestamptz', precision: 3 })
  expiresAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  answeredAt!: Date | null;

  /** Null in an answer: there is no such file. */
  @Column('bigint', { nullable: true })
  sizeBytes!: number | bigint | null;

  /** Changes with the file that has the name. */
  @Column('text', { nullable: true })
  file!: string | null;

  @Column('double precision', { nullable: true })
  modifiedMs!: number | null;

  @Column('bigint', { nullable: true })
  contentFrom!: number | bigint | null;

  @Column('bytea', { nullable: true })
  content!: Buffer | null;
}
