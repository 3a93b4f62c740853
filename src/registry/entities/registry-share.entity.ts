import { Column, Entity, PrimaryColumn } from 'typeorm';

/** What a group is due of the processors, beside other groups. */
@Entity('registry_share')
export class RegistryShareEntity {
  @PrimaryColumn('text')
  groupName!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  @Column('integer')
  weight!: number;
}
