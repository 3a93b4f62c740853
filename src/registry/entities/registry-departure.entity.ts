import { Column, Entity, PrimaryColumn } from 'typeorm';

/** When a user's membership of a group ended last: tokens from before are dead, also after the user has come back. */
@Entity('registry_departure')
export class RegistryDepartureEntity {
  @PrimaryColumn('text', { name: 'user_name' })
  user!: string;

  @PrimaryColumn('text', { name: 'group_name' })
  group!: string;

  @Column('timestamptz')
  leftAt!: Date;
}
