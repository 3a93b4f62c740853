import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { LoginSessionRecord } from '../flows/login-sessions.js';

/** A login under way at an identity provider; it is known by the hash of its `state` alone. */
@Entity('login_session')
@Index('login_session_expiry', ['expiresAt'])
export class LoginSessionEntity {
  @PrimaryColumn('text')
  stateHash!: string;

  @Column('jsonb')
  record!: LoginSessionRecord;

  /** The browser that began it, and where it goes on afterwards. */
  @Column('text', { nullable: true })
  browser!: string | null;

  @Column('text', { nullable: true })
  returnTo!: string | null;

  @Column('timestamptz')
  expiresAt!: Date;
}
