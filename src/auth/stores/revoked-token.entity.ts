import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A revoked token (its `jti`) or consent (its id), until the last token that it concerns is dead. */
@Entity('revoked_token')
@Index('revoked_token_expiry', ['expiresAt'])
export class RevokedTokenEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('timestamptz')
  expiresAt!: Date;
}
