import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { CatalogueFieldEntity } from './catalogue-field.entity.js';

/** A distinct value of a field: exactly one of its three columns is set. The table has no key but its partial indexes. */
@Entity('catalogue_value')
@Index('catalogue_value_int', { synchronize: false })
@Index('catalogue_value_float', { synchronize: false })
@Index('catalogue_value_text', { synchronize: false })
@Check('catalogue_value_segments_check', 'segments > 0')
export class CatalogueValueEntity {
  @Column('bigint', { nullable: true })
  intValue!: number | bigint | null;

  @Column('double precision', { nullable: true })
  floatValue!: number | null;

  /** Segments with this value. */
  @Column('bigint')
  segments!: number;

  @PrimaryColumn('smallint')
  @ForeignKey(() => CatalogueFieldEntity)
  fieldId!: number;

  @Column({ type: 'text', nullable: true, collation: 'C' })
  textValue!: string | null;
}
