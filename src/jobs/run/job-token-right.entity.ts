import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Delegation } from '#src/auth/index.js';

/** What the tokens of jobs may be, as it was within the right of who submitted them. */
@Entity('job_token_rights')
export class JobTokenRightEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('json')
  delegation!: Delegation;
}
