import { Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import { WebhookEntity, type JsonRecord } from './webhook.entity.js';

/** What can be of a delivery. `withheld`: by then its event was nothing that the owner may see. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'withheld'] as const;

/** What can be of a delivery. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One message for one webhook, with what came of it so far. */
@Entity('webhook_delivery')
@Index('webhook_delivery_id', ['webhookId', 'id'], { unique: true })
@Index('webhook_delivery_number', ['webhookId', 'number'])
@Index('webhook_delivery_waiting', { synchronize: false })
@Index('webhook_delivery_due', { synchronize: false })
@Index('webhook_delivery_claimed', { synchronize: false })
@Index('webhook_delivery_finished', { synchronize: false })
export class DeliveryEntity {
  /** In the order of the events. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  number!: number;

  /** The header `webhook-id`: the same at every attempt. */
  @Column('uuid')
  id!: string;

  @Column('uuid')
  @ForeignKey(() => WebhookEntity, { onDelete: 'CASCADE' })
  webhookId!: string;

  @Column('text')
  type!: string;

  /** Whose order is kept: a job, or a path. */
  @Column('text')
  subject!: string;

  /** Waits for earlier ones of its subject, and later ones wait for it; tests and replays do neither. */
  @Column('boolean')
  inOrder!: boolean;

  /** The bytes that are sent. */
  @Column('text')
  body!: string;

  /** What is needed to look again whether the owner may see the event. */
  @Column('jsonb')
  rights!: JsonRecord;

  @Column('text', { default: 'waiting' })
  state!: DeliveryState;

  @Column('timestamptz')
  createdAt!: Date;

  @Column('integer', { default: 0 })
  attempts!: number;

  /** When it was tried for the first time since the webhook was enabled. */
  @Column('timestamptz', { nullable: true })
  triedSince!: Date | null;

  @Column('timestamptz')
  nextAttempt!: Date;

  /** Until then it is an instance's; afterwards that one is taken for dead. */
  @Column('timestamptz', { nullable: true })
  claimedUntil!: Date | null;

  @Column('timestamptz', { nullable: true })
  finishedAt!: Date | null;

  /** HTTP status of the last answer. */
  @Column('integer', { nullable: true })
  status!: number | null;

  /** What was wrong with the last attempt. */
  @Column('text', { nullable: true })
  error!: string | null;
}
