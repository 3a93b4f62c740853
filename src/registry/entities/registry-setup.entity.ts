import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A named installation within the service. */
@Entity('registry_setup')
export class RegistrySetupEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  /** Groups that may use it; null: every group. */
  @Column('text', { array: true, nullable: true })
  groups!: string[] | null;
}
