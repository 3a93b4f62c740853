import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A secret with which workers enrol at a site, and nothing else. */
@Entity('site_secret')
@Index('site_secret_site', ['site'])
export class SiteSecretEntity {
  /** Stands in the secret, too. */
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  site!: string;

  /** SHA-256 of the secret, base64url. */
  @Column('text')
  hash!: string;

  /** For any number of workers; else for the first one that uses it. */
  @Column('boolean')
  reusable!: boolean;

  /** Thumbprint of the key that has used it; null of a reusable one, and of one that nobody has used. */
  @Column('text', { nullable: true })
  jkt!: string | null;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('text')
  createdBy!: string;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;
}
