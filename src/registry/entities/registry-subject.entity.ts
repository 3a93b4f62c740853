import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { RegistryUserEntity } from './registry-user.entity.js';

/** A user at an external identity provider. */
@Entity('registry_subject')
@Index('registry_subject_user', ['user'])
export class RegistrySubjectEntity {
  @PrimaryColumn('text')
  issuer!: string;

  @PrimaryColumn('text')
  sub!: string;

  @ForeignKey(() => RegistryUserEntity, { onDelete: 'CASCADE' })
  @Column('text', { name: 'user_name' })
  user!: string;

  /** Place among those of the user. */
  @Column('integer')
  position!: number;
}
