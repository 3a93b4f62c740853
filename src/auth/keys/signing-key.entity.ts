import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { JWK } from 'jose';

/** A key that signs, signed or will sign access tokens. */
@Entity('signing_key')
export class SigningKeyEntity {
  @PrimaryColumn('text')
  kid!: string;

  @Column('text')
  algorithm!: 'ES256' | 'EdDSA';

  @Column('jsonb', { name: 'public_jwk' })
  publicJwk!: JWK;

  /** PKCS #8 in base64, sealed by the key-encryption key. */
  @Column('text', { name: 'private_key' })
  privateKey!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  /** Signs from this moment until a younger key does; null: published, but not yet in use. */
  @Column('timestamptz', { name: 'active_from', nullable: true })
  activeFrom!: Date | null;

  /** Longest life, in seconds, of the tokens that it may have signed. */
  @Column('integer', { name: 'longest_ttl' })
  longestTtlSeconds!: number;
}
