import { ApiProperty } from '@nestjs/swagger';
import { isJsonObject, parseJson, type JsonObject } from '#src/kernel/index.js';
import {
  DELIVERY_STATES,
  type DeliveryEntity,
  type DeliveryState,
} from '../store/delivery.entity.js';
import {
  SOURCES,
  type JsonRecord,
  type SourceName,
  type WebhookEntity,
} from '../store/webhook.entity.js';

const ID = { format: 'uuid', example: '0b0c9b8e-6f5c-4b1e-9d53-3d5f0c3f6a11' };
const TIME = { type: 'string', format: 'date-time', example: '2026-01-02T03:04:05.678Z' } as const;
const OBJECT = { type: 'object', additionalProperties: true } as const;

/** A new webhook. The secret is not shown again. */
export class MadeWebhookResponse {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({
    description: 'With which receivers check signatures (Standard Webhooks 1.0)',
    example: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  })
  secret!: string;
}

/** A new secret beside the one before. */
export class WebhookSecretResponse extends MadeWebhookResponse {
  @ApiProperty({ ...TIME, description: 'Until then the secret before signs as well' })
  previousUntil!: string;
}

/** A webhook. */
export class WebhookResponse {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({ format: 'uri', example: 'https://hooks.example/grid' })
  url!: string;

  @ApiProperty({ enum: SOURCES })
  source!: SourceName;

  @ApiProperty({ ...OBJECT, example: { status: ['Done', 'Failed'] } })
  filter!: JsonRecord;

  description!: string;

  enabled!: boolean;

  @ApiProperty({ description: 'Why it is disabled', required: false })
  disabledReason?: string;

  @ApiProperty({ ...TIME, required: false })
  disabledAt?: string;

  @ApiProperty({ description: 'Its events are those that this user may see', example: 'alice' })
  user!: string;

  @ApiProperty({ description: '… in this group', example: 'grid_user' })
  group!: string;

  @ApiProperty({ description: '… and setup', example: 'Prod' })
  setup!: string;

  @ApiProperty({ description: '… by this application, which made or changed it last' })
  application!: string;

  @ApiProperty(TIME)
  createdAt!: string;

  @ApiProperty(TIME)
  updatedAt!: string;

  @ApiProperty({
    ...TIME,
    description: 'Until then the secret before the present one signs as well',
    required: false,
  })
  previousSecretUntil?: string;

  static from(webhook: WebhookEntity, now: Date): WebhookResponse {
    const { disabledReason, disabledAt, previousUntil } = webhook;
    const isBoth = previousUntil !== null && previousUntil > now;
    return {
      id: webhook.id,
      url: webhook.url,
      source: webhook.source,
      filter: webhook.filter,
      description: webhook.description,
      enabled: webhook.enabled,
      ...(disabledReason !== null && { disabledReason }),
      ...(disabledAt && { disabledAt: disabledAt.toISOString() }),
      user: webhook.user,
      group: webhook.group,
      setup: webhook.setup,
      application: webhook.clientId,
      createdAt: webhook.createdAt.toISOString(),
      updatedAt: webhook.updatedAt.toISOString(),
      ...(isBoth && { previousSecretUntil: previousUntil.toISOString() }),
    };
  }
}

/** The webhooks of the caller's user, group and setup. */
export class WebhookListResponse {
  webhooks!: WebhookResponse[];
}

/** A webhook that is gone. */
export class RemovedWebhookResponse {
  @ApiProperty(ID)
  id!: string;

  @ApiProperty({ description: 'Always true', example: true })
  deleted!: boolean;
}

/** What came of a test message. */
export class WebhookTestResponse {
  @ApiProperty({ ...ID, description: 'Id of the delivery' })
  id!: string;

  @ApiProperty({ description: 'The receiver answered with 2xx' })
  delivered!: boolean;

  @ApiProperty({ type: 'integer', description: 'Status of the answer', required: false })
  status?: number;

  @ApiProperty({ description: 'Why it does not count as delivered', required: false })
  error?: string;
}

/** A message to a receiver, with what came of it so far. */
export class DeliveryResponse {
  @ApiProperty({ ...ID, description: 'The header `webhook-id`, the same at every attempt' })
  id!: string;

  @ApiProperty({ example: 'job.changed' })
  type!: string;

  @ApiProperty({ description: 'Job or path, whose messages are in order', example: 'job 4711' })
  subject!: string;

  @ApiProperty({
    enum: DELIVERY_STATES,
    description: '`withheld`: by then the owner might not see the event any more',
  })
  state!: DeliveryState;

  @ApiProperty({ type: 'integer', example: 1 })
  attempts!: number;

  @ApiProperty(TIME)
  createdAt!: string;

  @ApiProperty({ ...TIME, description: 'While it waits', required: false })
  nextAttempt?: string;

  @ApiProperty({ ...TIME, required: false })
  finishedAt?: string;

  @ApiProperty({ type: 'integer', description: 'Of the last answer', required: false })
  status?: number;

  @ApiProperty({ description: 'What was wrong with the last attempt', required: false })
  error?: string;

  @ApiProperty({ ...OBJECT, description: 'What is sent' })
  payload!: JsonObject;

  static from(delivery: DeliveryEntity): DeliveryResponse {
    const { state, nextAttempt, finishedAt, status, error } = delivery;
    const payload = parseJson(delivery.body);
    return {
      id: delivery.id,
      type: delivery.type,
      subject: delivery.subject,
      state,
      attempts: delivery.attempts,
      createdAt: delivery.createdAt.toISOString(),
      ...(state === 'waiting' && { nextAttempt: nextAttempt.toISOString() }),
      ...(finishedAt && { finishedAt: finishedAt.toISOString() }),
      ...(status !== null && { status }),
      ...(error !== null && { error }),
      payload: isJsonObject(payload) ? payload : {},
    };
  }
}

/** Deliveries of a webhook, newest first. */
export class DeliveryListResponse {
  deliveries!: DeliveryResponse[];
}
