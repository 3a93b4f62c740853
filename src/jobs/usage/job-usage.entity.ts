import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What the runs of an owner that ended on one day (UTC) have used at one site. Never forgotten. */
@Entity('job_usage')
@Index('job_usage_groups', { synchronize: false }) // of days whose job groups are told apart
export class JobUsageEntity {
  @PrimaryColumn('text')
  setup!: string;

  @PrimaryColumn('date')
  day!: string;

  /** Virtual organisation of the group, '' without one. */
  @PrimaryColumn('text')
  vo!: string;

  @PrimaryColumn('text')
  ownerGroup!: string;

  @PrimaryColumn('text')
  owner!: string;

  @PrimaryColumn('text')
  site!: string;

  /** '' for those of days that are too long ago to tell job groups apart. */
  @PrimaryColumn('text', { default: '' })
  jobGroup!: string;

  @Column('bigint')
  runs!: number;

  /** Those whose jobs are Done. */
  @Column('bigint')
  done!: number;

  @Column('double precision')
  wallSeconds!: number;

  /** Wall time times processors that were given. */
  @Column('double precision')
  processorSeconds!: number;

  @Column('double precision')
  cpuSeconds!: number;

  /** Processor-seconds of the runs whose CPU time was measured. */
  @Column('double precision')
  measuredSeconds!: number;

  /** MB that were given, else used, times wall time. */
  @Column('double precision')
  memorySeconds!: number;

  /** MB that were used at most times wall time, of the runs of which both is known. */
  @Column('double precision')
  memoryUsed!: number;

  /** MB that were given times wall time, of the same runs. */
  @Column('double precision')
  memoryGiven!: number;
}
