import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** A signed proof that may be shown once and has been, until it would be refused for its age. */
@Entity('used_proof')
@Index('used_proof_expiry', ['expiresAt'])
export class UsedProofEntity {
  /** SHA-256 of whose it is and of its `jti`, base64url. */
  @PrimaryColumn('text')
  id!: string;

  @Column('timestamptz')
  expiresAt!: Date;
}
