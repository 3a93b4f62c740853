import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { JWK } from 'jose';

/** A key that signs, signed or will sign access tokens. */
@Entity('signing_key')
@Index('signing_key_next', { synchronize: false })
export class SigningKeyEntity {
  @PrimaryColumn('text')
  kid!: string;

  @Column('text')
  algorithm!: 'ES256' | 'EdDSA';

  @Column('jsonb')
  publicJwk!: JWK;

  /** PKCS #8 in base64, sealed by the key-encryption key. */
  @Column('text')
  privateKey!: string;

  @Column('timestamptz')
  createdAt!: Date;

  /** Signs from this moment until a younger key does; null: published, but not yet in use. */
  @Column('timestamptz', { nullable: true })
  activeFrom!: Date | null;

  /** Longest life, in seconds, of the tokens that it may have signed. */
  @Column('integer', { name: 'longest_ttl' })
  longestTtlSeconds!: number;
}
