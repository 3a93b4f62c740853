import { Column, Entity, PrimaryColumn, Unique } from 'typeorm';
import type { JobLimits } from '../model/limits.js';

/** A person (or robot) who may use the service. */
@Entity('registry_user')
@Unique(['sub'])
export class RegistryUserEntity {
  @PrimaryColumn('text')
  name!: string;

  /** Place in the file. */
  @Column('integer')
  position!: number;

  /** The subject of tokens: opaque, for life, never another's. */
  @Column('text', { default: () => '(gen_random_uuid())::text' })
  sub!: string;
  /** For people; null when it is not known. */
  @Column('text', { nullable: true })
  fullName!: string | null;

  @Column('text', { nullable: true })
  email!: string | null;

  @Column('jsonb', { nullable: true })
  limits!: JobLimits | null;

  /** In all groups as if in none. */
  @Column('boolean', { default: false })
  disabled!: boolean;
}
