import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { ConsentEntity } from './consent.entity.js';

/** A refresh token as it is stored: its hash, never itself. */
@Entity('refresh_token')
@Index('refresh_token_grant', ['consentId'])
@Index('refresh_token_expiry', ['expiresAt'])
export class RefreshTokenEntity {
  @PrimaryColumn('text', { name: 'token_hash' })
  hash!: string;

  @ForeignKey(() => ConsentEntity, { onDelete: 'CASCADE' })
  @Column('text', { name: 'grant_id' })
  consentId!: string;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  usedAt!: Date | null;

  /** With the used token itself it gives the successor again; alone it is worth nothing. */
  @Column('text', { nullable: true })
  successorSeed!: string | null;
}
