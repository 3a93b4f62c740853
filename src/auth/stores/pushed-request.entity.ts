import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** An authorization request that an application has handed in beforehand (RFC 9126). */
@Entity('pushed_request')
@Index('pushed_request_expiry', ['expiresAt'])
export class PushedRequestEntity {
  /** Of its `request_uri`. */
  @PrimaryColumn('text')
  hash!: string;

  @Column('text')
  clientId!: string;

  /** As a query string. */
  @Column('text')
  parameters!: string;

  /** When a browser came with it first. */
  @Column('timestamptz', { nullable: true })
  openedAt!: Date | null;

  @Column('timestamptz')
  expiresAt!: Date;
}
