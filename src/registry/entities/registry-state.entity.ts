import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The one row that every change of the registry touches. */
@Entity('registry_state')
@Check('registry_state_id_check', 'id = 1')
export class RegistryStateEntity {
  @PrimaryColumn('smallint', { default: 1 })
  id!: number;

  /** Grows with every change. */
  @Column('bigint')
  version!: string;

  /** Whether the file of GRID_REGISTRY rules: then nothing else changes the registry. */
  @Column('boolean', { default: false })
  fileRules!: boolean;
}
