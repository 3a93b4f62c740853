import type { SubmitResponse } from './submit.response.js';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** What was answered to a submit with an `Idempotency-Key`. */
@Entity('job_idempotency_keys')
export class IdempotencyKeyEntity {
  @PrimaryColumn('text')
  owner!: string;

  @PrimaryColumn('text')
  ownerGroup!: string;

  @PrimaryColumn('text')
  setup!: string;

  @PrimaryColumn('text')
  key!: string;

  @Column('text')
  bodyHash!: string;

  @Column('json')
  answer!: SubmitResponse;

  @Index('job_idempotency_keys_created_at')
  @Column({ type: 'timestamptz', precision: 3 })
  createdAt!: Date;
}
