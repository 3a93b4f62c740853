import { Column, PrimaryColumn } from 'typeorm';
import type { JWK } from 'jose';

/** Algorithm of a signing key. */
export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** Columns of a key that signs, signed or will sign. */
export abstract class StoredKey {
  @PrimaryColumn('text')
  kid!: string;

  @Column('text')
  algorithm!: SigningAlgorithm;

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
