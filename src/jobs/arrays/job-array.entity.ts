import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Jobs that were submitted together and are looked at together; each of them names it in `jobs.array_id`. */
@Entity('job_arrays')
export class JobArrayEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number | bigint;

  @Column('text')
  setup!: string;

  @Column('text')
  owner!: string;

  @Column('text')
  ownerGroup!: string;

  /** Virtual organisation of the group it was submitted in, '' without one. */
  @Column('text')
  vo!: string;

  /** JobName of the first manifest as it was sent, place-holders included; null without one. */
  @Column('text', { nullable: true })
  name!: string | null;

  /** Members it was submitted with. */
  @Column('integer')
  total!: number;

  @Column({ type: 'timestamptz', precision: 3 })
  submissionTime!: Date;
}
