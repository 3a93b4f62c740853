import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A place that holds replicas of catalogue files. */
@Entity('registry_storage_element')
export class RegistryStorageElementEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  @Column('text', { nullable: true })
  description!: string | null;
}
