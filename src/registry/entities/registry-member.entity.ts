import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { RegistryGroupEntity } from './registry-group.entity.js';
import { RegistryUserEntity } from './registry-user.entity.js';

/** A user in a group. */
@Entity('registry_member')
@Index('registry_member_user', ['user'])
export class RegistryMemberEntity {
  @ForeignKey(() => RegistryGroupEntity, { onDelete: 'CASCADE' })
  @PrimaryColumn('text', { name: 'group_name' })
  group!: string;

  @ForeignKey(() => RegistryUserEntity, { onDelete: 'CASCADE' })
  @PrimaryColumn('text', { name: 'user_name' })
  user!: string;

  /** Place among the members. */
  @Column('integer')
  position!: number;
}
