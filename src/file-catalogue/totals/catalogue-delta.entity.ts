import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A change of totals that has not been added to the directories; the exact total is both together. Has no key. */
@Entity('catalogue_delta')
export class CatalogueDeltaEntity {
  @Column('bigint')
  files!: number;

  @Index('catalogue_delta_directory')
  @PrimaryColumn('integer')
  directoryId!: number;

  /** Decimal digits. */
  @Column('numeric')
  bytes!: string;
}
