import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Jid } from '../state/job.js';

/** A run that was given tokens: they are revoked when it is over, whoever sees that. */
@Entity('job_run_tokens')
export class RunTokenEntity {
  @PrimaryColumn('bigint')
  jid!: Jid;

  @PrimaryColumn('integer')
  attempt!: number;

  @Column('text')
  tokenRight!: string;
}
