import { Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** What has a feed. */
export type FeedSource = 'jobs' | 'filecatalogue';

/** All that have a feed. */
export const FEED_SOURCES: readonly FeedSource[] = ['jobs', 'filecatalogue'];

/** Events that agree in all but their first and last member, in order. */
export interface EventsAlike {
  first: unknown[];
  all: unknown[];
  /** Null when the last member of each is null. */
  last: unknown[] | null;
}

/** What one statement has changed, written by that statement; numbered when its transaction is there for all. */
@Entity('event_log')
@Index('event_log_fresh', { synchronize: false })
@Index('event_log_last', { synchronize: false })
export class EventLogEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('text')
  source!: FeedSource;

  /** Number of the transaction that wrote it, with its epoch. */
  @Column('bigint')
  xact!: number;

  @Column({ type: 'timestamptz', precision: 3 })
  writtenAt!: Date;

  /** How many events there are. */
  @Column('integer')
  n!: number;

  /** Events, each an array whose meaning the source knows. */
  @Column('json')
  events!: (unknown[] | EventsAlike)[];

  /** Position of the last one; those before it have the numbers below. Null as long as it is not numbered. */
  @Column('bigint', { nullable: true })
  last!: number | null;
}

/** How far the events of a source are numbered. */
@Entity('event_positions')
export class EventPositionEntity {
  @PrimaryColumn('text')
  source!: FeedSource;

  /** The last number that was given. */
  @Column('bigint', { default: 0 })
  position!: number;

  /** Everything that older transactions wrote is numbered. */
  @Column('bigint', { default: 0 })
  floor!: number;

  /** Events up to this one are not kept any more. */
  @Column('bigint', { default: 0 })
  gone!: number;
}
