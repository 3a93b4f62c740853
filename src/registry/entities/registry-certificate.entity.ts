import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { RegistryUserEntity } from './registry-user.entity.js';

/** A certificate of a user. The table has no key: a DN stands once for each CA, and once without one. */
@Entity('registry_certificate')
@Index('registry_certificate_identity', { synchronize: false })
@Index('registry_certificate_user', ['user'])
export class RegistryCertificateEntity {
  /** Canonical DN. */
  @PrimaryColumn('text')
  dn!: string;

  @ForeignKey(() => RegistryUserEntity, { onDelete: 'CASCADE' })
  @Column('text', { name: 'user_name' })
  user!: string;

  /** Place among those of the user. */
  @Column('integer')
  position!: number;

  /** Canonical DN of the CA from which it counts; null: any trusted one. */
  @Column('text', { nullable: true })
  issuer!: string | null;
}
