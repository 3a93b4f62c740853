import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What an owner has had of the processors in a group. */
@Entity('job_shares')
export class JobShareEntity {
  @PrimaryColumn('text')
  ownerGroup!: string;

  @PrimaryColumn('text')
  owner!: string;

  /** Processor-seconds, each counting half after every half-life that has gone by; as of `asOf`. */
  @Column('double precision')
  used!: number;

  /** Processors of the jobs that sites have been given and not let go of. */
  @Column('integer')
  held!: number;

  /** Processors of those whose program was at work. */
  @Column('integer')
  running!: number;

  /** When somebody looked. */
  @Column({ type: 'timestamptz', precision: 3 })
  asOf!: Date;
}
