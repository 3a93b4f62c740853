import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';

/**
 * A file. No foreign key to the directory: writers hold its row while they register. Metadata and replicas are read as
 * JSON text, so that no digit is lost.
 */
@Entity('catalogue_file')
@Check('catalogue_file_size_check', 'size >= 0')
@Index('catalogue_file_stored', ['directoryId'], { where: 'stored is not null' })
export class CatalogueFileEntity {
  @Column('bigint', { default: () => `nextval('catalogue_file_id')` })
  id!: number | bigint;

  @Column('bigint')
  size!: number | bigint;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  modifiedAt!: Date;

  @PrimaryColumn('integer')
  directoryId!: number;

  @Column('integer')
  ownerId!: number;

  @Column('integer')
  groupId!: number;

  /** Nine bits, as POSIX has them. */
  @Column('smallint')
  mode!: number;

  @PrimaryColumn({ type: 'text', collation: 'C' })
  name!: string;

  @Column('text', { nullable: true })
  checksum!: string | null;

  @Column('text', { nullable: true })
  checksumType!: string | null;

  @Column('text', { nullable: true })
  guid!: string | null;

  /** Number of the storage element → PFN, null where it follows from the path. */
  @Column('jsonb', { nullable: true })
  replicas!: string | null;

  @Column('jsonb', { nullable: true })
  metadata!: string | null;

  /** Hexadecimal digits; known of bytes that came through this service. */
  @Column('text', { nullable: true })
  sha256!: string | null;

  /** Numbers of the storage elements whose bytes came through this service. */
  @Column('integer', { array: true, nullable: true })
  stored!: number[] | null;
}
