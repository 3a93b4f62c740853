import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** How somebody signed in. */
export type LoginMethod = 'certificate' | 'provider';

/** A browser on the pages of the service; without user until somebody signs in. */
@Entity('browser_session')
@Index('browser_session_expiry', ['expiresAt'])
export class BrowserSessionEntity {
  /** SHA-256 of the cookie's value. */
  @PrimaryColumn('text')
  idHash!: string;

  @Column('text', { name: 'user_name', nullable: true })
  user!: string | null;

  @Column('text', { nullable: true })
  method!: LoginMethod | null;

  /** Goes into every form; a form without it was not made by us (RFC 6749 §10.12). */
  @Column('text')
  csrfToken!: string;

  /** Names the session in ID tokens; the cookie cannot be told from it. Null without user, as the next two. */
  @Column('text', { nullable: true })
  sid!: string | null;

  /** When the user proved who they are. */
  @Column('timestamptz', { nullable: true })
  authenticatedAt!: Date | null;

  /** SHA-256 of the own path that asked for the sign-in, until what it asked for is decided. */
  @Column('text', { nullable: true })
  signedInFor!: string | null;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;
}
