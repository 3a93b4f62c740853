import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * Counters: sums over rows that triggers only ever add. The tables have no key; TypeORM wants one, so what rows are merged
 * by is named as it.
 */
export class CounterEntity {
  @PrimaryColumn('text')
  setup!: string;

  @Column('text')
  vo!: string;

  @Column('text')
  status!: string;

  @Column('text')
  site!: string;

  @Column('bigint')
  n!: number | bigint;

  @Column('boolean', { default: false })
  isMerged!: boolean;
}

/** Numbers of jobs by the attributes that lists are counted by most. */
@Entity('job_totals')
@Index('job_totals_owner', ['setup', 'owner'])
@Index('job_totals_fresh', { synchronize: false })
export class JobTotalEntity extends CounterEntity {
  @PrimaryColumn('text')
  owner!: string;

  @Column('text')
  ownerGroup!: string;

  @Column('text')
  minorStatus!: string;

  @Column('text')
  jobType!: string;
}

/** Numbers of jobs by name, by job group and by array, of which there may be millions. */
@Entity('job_label_counts')
@Index('job_label_counts_label', ['setup', 'kind', 'label'])
@Index('job_label_counts_fresh', { synchronize: false })
export class JobLabelCountEntity extends CounterEntity {
  /** The attribute that the label is of. */
  @PrimaryColumn('text')
  kind!: 'name' | 'job_group' | 'array';

  @PrimaryColumn('text')
  label!: string;

  @Column('text')
  owner!: string;

  @Column('text')
  ownerGroup!: string;
}

/** Numbers of jobs by block of neighbouring ids. */
@Entity('job_block_counts')
@Index('job_block_counts_block', ['setup', 'block'])
@Index('job_block_counts_fresh', { synchronize: false })
export class JobBlockCountEntity extends CounterEntity {
  @PrimaryColumn('integer')
  block!: number;

  @Column('text')
  owner!: string;
}
