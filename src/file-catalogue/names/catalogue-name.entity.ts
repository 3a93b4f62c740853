import { Check, Column, Entity, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** Whose name a number stands for. */
export type NameKind = 'user' | 'group' | 'se';

/** An owner, group or storage element as a small number. Rows are only ever added. */
@Entity('catalogue_name')
@Unique(['kind', 'name'])
@Check('catalogue_name_kind_check', `kind in ('user', 'group', 'se')`)
export class CatalogueNameEntity {
  @PrimaryGeneratedColumn('identity', { type: 'integer', generatedIdentity: 'ALWAYS' })
  id!: number;

  @Column('text')
  kind!: NameKind;

  @Column({ type: 'text', collation: 'C' })
  name!: string;
}
