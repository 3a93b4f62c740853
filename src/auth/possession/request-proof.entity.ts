import { Column, Entity, PrimaryColumn } from 'typeorm';

/**
 * A DPoP proof of a request with an access token, which may be shown once and has been, until it would be refused for its
 * age. The table is not logged: what a crash of the database loses of it is good for minutes, for one request of one token.
 */
@Entity('request_proof')
export class RequestProofEntity {
  /** SHA-256 of whose it is and of its `jti`, base64url. */
  @PrimaryColumn('text')
  id!: string;

  @Column('timestamptz')
  expiresAt!: Date;
}
