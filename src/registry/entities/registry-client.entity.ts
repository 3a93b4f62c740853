import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { ClientOrigin, ClientProfile, KeyAuthentication } from '../model/registry.types.js';

/** A program that acts on behalf of users. */
@Entity('registry_application')
@Check('registry_application_origin_check', "origin in ('file', 'command')")
export class RegistryClientEntity {
  /** The OAuth client_id. */
  @PrimaryColumn('text')
  id!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  @Column('text')
  name!: string;

  @Column('text', { array: true })
  redirectUris!: string[];

  /** Null when it has none. */
  @Column('text', { array: true, nullable: true })
  postLogoutRedirectUris!: string[] | null;

  @Column('boolean')
  confidential!: boolean;

  /** SHA-256 of the secret, base64url; null for public ones. */
  @Column('text', { nullable: true })
  secretHash!: string | null;

  /** Services for which it may ask for tokens beside this one. */
  @Column('text', { array: true, nullable: true })
  audiences!: string[] | null;
  /** How it proves itself without a secret; null: by its secret, or not at all. */
  @Column('text', { nullable: true })
  authentication!: KeyAuthentication | null;

  /** Public keys or certificates (RFC 7517). */
  @Column('jsonb', { nullable: true })
  jwks!: { keys?: unknown } | null;

  /** Canonical DN of its certificate. */
  @Column('text', { nullable: true })
  subjectDn!: string | null;

  /** Null: `interface`. */
  @Column('text', { nullable: true })
  profile!: ClientProfile | null;

  /** Null: that of GRID_SIGNING_ALG. */
  @Column('text', { nullable: true })
  idTokenAlg!: 'RS256' | null;

  /** Scopes of tokens for itself; null: it may have none. */
  @Column('text', { array: true, nullable: true })
  scopes!: string[] | null;

  /** Group that bounds them. */
  @Column('text', { name: 'group_name', nullable: true })
  group!: string | null;

  @Column('text')
  origin!: ClientOrigin;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
