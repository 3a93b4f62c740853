import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

/** A directory. Its label says where it stands in the tree: those of the directories below it begin with it. */
@Entity('catalogue_directory')
@Unique(['label'])
@Unique(['parent', 'name'])
@Index('catalogue_directory_path', { synchronize: false })
@Index('catalogue_directory_boundary', { synchronize: false })
export class CatalogueDirectoryEntity {
  /** From the sequence `catalogue_directory_id`. */
  @PrimaryColumn('integer')
  id!: number;

  /** Null for the root. */
  @Column('integer', { nullable: true })
  @ForeignKey(() => CatalogueDirectoryEntity)
  parent!: number | null;

  /** Files in it and below, without what is pending. */
  @Column('bigint', { default: 0 })
  subFiles!: number;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;

  @Column('timestamptz', { default: () => 'now()' })
  modifiedAt!: Date;

  /** Ordinal of the next directory that is made in it. */
  @Column('integer', { default: 0 })
  nextOrdinal!: number;

  @Column('integer')
  ownerId!: number;

  @Column('integer')
  groupId!: number;

  /** Nine bits, as POSIX has them. */
  @Column('smallint')
  mode!: number;

  @Column('smallint')
  depth!: number;

  /** Owner, group or mode differ from the parent's: only here can readability change. */
  @Column('boolean')
  boundary!: boolean;

  /** Bytes of these files, as decimal digits: the sum of 64-bit sizes may leave 64 bits. */
  @Column('numeric', { default: 0 })
  subBytes!: string;

  @Column('bytea')
  label!: Buffer;

  @Column({ type: 'text', collation: 'C' })
  name!: string;

  @Column({ type: 'text', collation: 'C' })
  path!: string;
}
