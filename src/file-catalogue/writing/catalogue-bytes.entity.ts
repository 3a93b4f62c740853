import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** Bytes that arrive for a reserved path, or are to be removed. */
export const BYTES_STATES = ['arriving', 'removing'] as const;

/** What becomes of bytes that belong to no file. */
export type BytesState = (typeof BYTES_STATES)[number];

/**
 * Bytes at a storage element that belong to no file. Those that arrive reserve their path; a path has many of those that are to be
 * removed, one for each element.
 */
@Entity('catalogue_bytes')
@Check('catalogue_bytes_state_check', "state in ('arriving', 'removing')")
@Unique('catalogue_bytes_path_se_id_key', ['path', 'seId'])
@Index('catalogue_bytes_reserved', ['path'], { unique: true, where: "state = 'arriving'" })
@Index('catalogue_bytes_owner', ['ownerId'], { where: 'jid is null' })
@Index('catalogue_bytes_due', ['seId', 'dueAt'])
@Index('catalogue_bytes_run', ['jid', 'attempt'], { where: 'jid is not null' })
export class CatalogueBytesEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number;

  /** Of bytes that arrive, as far as it is known. */
  @Column('bigint', { nullable: true })
  size!: number | bigint | null;

  /** The run for which they arrive; null: its owner's own. */
  @Column('bigint', { nullable: true })
  jid!: number | null;

  @Column('timestamptz', { default: () => 'now()' })
  madeAt!: Date;

  /** When bytes that arrive are removed, or when the next attempt to remove them is made. */
  @Column('timestamptz')
  dueAt!: Date;

  @Column('integer')
  ownerId!: number;

  @Column('integer')
  seId!: number;

  @Column('integer', { nullable: true })
  attempt!: number | null;

  /** Failed attempts to remove them. */
  @Column('integer', { default: 0 })
  tries!: number;

  /**
   * How often they are still to be removed before their path is free. 0: nobody was let in, and what lies there is not ours; 1; 2: they may
   * also come late.
   */
  @Column('smallint', { default: 0 })
  removals!: number;

  @Column('text')
  state!: BytesState;

  @Column({ type: 'text', collation: 'C' })
  path!: string;

  /** Of bytes that arrive: the MD5 that was signed, as hexadecimal digits. */
  @Column('text', { nullable: true })
  md5!: string | null;

  /** Of bytes of a run: what they are to be. */
  @Column('text', { nullable: true })
  adler32!: string | null;

  @Column('text', { nullable: true })
  sha256!: string | null;

  /** When they were looked at at their element, and were that. */
  @Column('timestamptz', { nullable: true })
  arrivedAt!: Date | null;

  /** Until then one request works at their place alone. */
  @Column('timestamptz', { nullable: true })
  workedUntil!: Date | null;

  /** Why the last attempt failed. */
  @Column('text', { nullable: true })
  fault!: string | null;
}
