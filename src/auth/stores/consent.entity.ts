import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What a user has allowed an application to do, once; its id is the family of the tokens that follow from it. */
@Entity('authorization_grant')
@Index('authorization_grant_user', ['user', 'clientId'])
@Index('authorization_grant_expiry', ['expiresAt'])
export class ConsentEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'user_name' })
  user!: string;

  @Column('text')
  clientId!: string;

  @Column('text', { name: 'group_name' })
  group!: string;

  @Column('text')
  setup!: string;

  /** Words separated by blanks. */
  @Column('text')
  scope!: string;

  /** The subject of the user: tokens are for nobody else who has the name later; null in consents of older versions. */
  @Column('text', { nullable: true })
  sub!: string | null;

  /** Services that it was asked for; null: those that the application may ask for. */
  @Column('text', { array: true, nullable: true })
  audience!: string[] | null;
  /** Thumbprint of the DPoP key to which the refresh tokens of a public application are bound (RFC 9449 §5). */
  @Column('text', { nullable: true })
  dpopKey!: string | null;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  usedAt!: Date;

  /** When the last token that may follow from it is dead. */
  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;

  /** When its user had signed in; null, as the next two, where nobody signed in here to give it. */
  @Column('timestamptz', { nullable: true })
  authTime!: Date | null;

  /** How its user had signed in: an authentication context class. */
  @Column('text', { nullable: true })
  acr!: string | null;

  /** The session of the browser in which it was given. */
  @Column('text', { nullable: true })
  sid!: string | null;
}
