import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import type { Jid } from './job.js';

/** The manifest of a job; of one with a template only what it has for itself. Read as text (stored-manifest.ts). */
@Entity('job_descriptions')
export class JobDescriptionEntity {
  @PrimaryColumn('bigint')
  jid!: Jid;

  @Column('json')
  manifest!: object;

  @Column('bigint', { nullable: true })
  template!: number | bigint | null;

  /** Values of the place-holders of the template. */
  @Column('json', { nullable: true })
  placeValues!: Record<string, string> | null;

  /** What its token may be (`job_token_rights`); null for a job without one. */
  @Column('text', { nullable: true })
  tokenRight!: string | null;
}

/** What the jobs of a parametric manifest have in common. */
@Entity('job_templates')
export class JobTemplateEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: number | bigint;

  @Column('json')
  manifest!: object;

  /** Keys that the rules have added to it. */
  @Column('json')
  added!: object;
}
