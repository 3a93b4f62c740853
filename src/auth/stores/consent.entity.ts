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

  @Column('timestamptz')
  createdAt!: Date;

  @Column('timestamptz')
  usedAt!: Date;

  /** When the last token that may follow from it is dead. */
  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  revokedAt!: Date | null;
}
