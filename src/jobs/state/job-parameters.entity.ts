import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Jid } from './job.js';

/** What was measured and noted of a job, by name; no row before there is anything. */
@Entity('job_parameters')
export class JobParametersEntity {
  @PrimaryColumn('bigint')
  jid!: Jid;

  @Column('jsonb')
  parameters!: Record<string, unknown>;
}
