import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { SiteBackend } from '#src/registry/index.js';

/** An executor and when it was last heard of, by the database's clock. */
@Entity('job_executors')
export class JobExecutorEntity {
  @PrimaryColumn('text')
  executor!: string;

  @Column('text')
  instance!: string;

  @Column('text')
  backend!: SiteBackend;

  @Column({ type: 'timestamptz', precision: 3 })
  seenAt!: Date;

  /** Why its cluster cannot be used now; null when it can. */
  @Column('text', { nullable: true })
  fault!: string | null;
}
