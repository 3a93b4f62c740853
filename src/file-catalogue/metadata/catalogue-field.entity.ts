import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** The types of metadata fields. */
export const FIELD_TYPES = ['int', 'float', 'string', 'date'] as const;

/** One of the types of metadata fields. */
export type FieldType = (typeof FIELD_TYPES)[number];

/** A declared metadata field. */
@Entity('catalogue_field')
@Unique(['name'])
@Check('catalogue_field_type_check', `type in ('int', 'float', 'string', 'date')`)
export class CatalogueFieldEntity {
  @PrimaryGeneratedColumn('identity', { type: 'smallint', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('text')
  type!: FieldType;

  @Column({ type: 'text', collation: 'C' })
  name!: string;

  /** Distinct values that are set on directories. */
  @Column('bigint', { default: 0 })
  valueCount!: number;
}
