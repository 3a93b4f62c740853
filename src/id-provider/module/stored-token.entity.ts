import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** The token of an identity provider that the service keeps for a user, sealed. */
@Entity('stored_token')
@Index('stored_token_expiry', ['expiresAt'])
export class StoredTokenEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  sealed!: string;

  @Column('timestamptz')
  expiresAt!: Date;
}
