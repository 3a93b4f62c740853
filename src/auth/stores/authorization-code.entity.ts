import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { ConsentEntity } from './consent.entity.js';

/** An authorization code as it is stored: its hash, and to what it is bound. */
@Entity('authorization_code')
@Index('authorization_code_grant', ['consentId'])
export class AuthorizationCodeEntity {
  @PrimaryColumn('text', { name: 'code_hash' })
  hash!: string;

  @ForeignKey(() => ConsentEntity, { onDelete: 'CASCADE' })
  @Column('text', { name: 'grant_id' })
  consentId!: string;

  /** As sent in the authorization request; null when it was not sent. */
  @Column('text', { nullable: true })
  redirectUri!: string | null;

  @Column('text', { nullable: true })
  codeChallenge!: string | null;

  /** Of the authorization request; goes into the ID token. */
  @Column('text', { nullable: true })
  nonce!: string | null;
  /** Thumbprint of the DPoP key that must be proved with it. */
  @Column('text', { nullable: true })
  dpopKey!: string | null;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  usedAt!: Date | null;
}
