import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CatalogueDirectoryEntity } from '../tree/catalogue-directory.entity.js';
import { CatalogueFieldEntity } from './catalogue-field.entity.js';

/**
 * A value that is set on a directory: it holds for the labels [lo, hi), the whole subtree. No two segments of a field
 * overlap. Exactly one of the three columns of the value is set.
 */
@Entity('catalogue_segment')
@Index('catalogue_segment_int', { synchronize: false })
@Index('catalogue_segment_float', { synchronize: false })
@Index('catalogue_segment_text', { synchronize: false })
@Index('catalogue_segment_place', { synchronize: false })
@Check('catalogue_segment_check', 'num_nonnulls(int_value, float_value, text_value) = 1')
export class CatalogueSegmentEntity {
  @Column('bigint', { nullable: true })
  intValue!: number | bigint | null;

  @Column('double precision', { nullable: true })
  floatValue!: number | null;

  @Index('catalogue_segment_directory')
  @Column('integer')
  @ForeignKey(() => CatalogueDirectoryEntity)
  directoryId!: number;

  @PrimaryColumn('smallint')
  @ForeignKey(() => CatalogueFieldEntity)
  fieldId!: number;

  @PrimaryColumn('bytea')
  lo!: Buffer;

  @Column('bytea')
  hi!: Buffer;

  @Column({ type: 'text', nullable: true, collation: 'C' })
  textValue!: string | null;
}
