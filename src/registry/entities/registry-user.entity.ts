import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A person (or robot) who may use the service. */
@Entity('registry_user')
export class RegistryUserEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;
}
