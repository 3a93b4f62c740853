import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { ClientOrigin } from '../model/registry.types.js';

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

  @Column('boolean')
  confidential!: boolean;

  /** SHA-256 of the secret, base64url; null for public ones. */
  @Column('text', { nullable: true })
  secretHash!: string | null;

  @Column('text')
  origin!: ClientOrigin;

  @Column('timestamptz', { default: () => 'now()' })
  createdAt!: Date;
}
