import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository } from 'typeorm';
import { columnsOf, Database, type Queryable, type Transaction } from '#src/database/index.js';
import { DeliveryEntity, type DeliveryState } from './delivery.entity.js';

/** A delivery as it begins. */
export type NewDelivery = Pick<
  DeliveryEntity,
  'id' | 'webhookId' | 'type' | 'subject' | 'body' | 'rights'
>;

/** Bounds of a claim. */
export interface ClaimLimits {
  /** Deliveries that this instance takes at most. */
  most: number;
  /** Under way for one webhook, on all instances together; for a silent one it is one. */
  perWebhook: number;
  /** Under way for all webhooks of one user. */
  perUser: number;
  /** Of these for silent ones. */
  silentPerUser: number;
  leaseMs: number;
}

/** What an attempt has come to. */
export interface AttemptResult {
  status: number | null;
  error: string | null;
}

const COLUMNS = columnsOf(DeliveryEntity, { alias: 'd' });
/** Webhooks that one claim looks at. */
const WEBHOOKS_AT_ONCE = 50;

/** Deliveries that are due at $1 and nobody's, and have no earlier one of their subject before them. */
const DUE = `d.state = 'waiting' and d.next_attempt <= $1
  and (d.claimed_until is null or d.claimed_until <= $1)
  and (not d.in_order or not exists (
    select from webhook_delivery e
    where e.webhook_id = d.webhook_id and e.subject = d.subject
      and e.state = 'waiting' and e.in_order and e.number < d.number))`;

/** Takes deliveries of the webhooks $3 at $1 until $2: $4 of a webhook, $6 of a user with $7 of those that are silent, $5 of all. */
const CLAIM = `with under_way as materialized (
    select webhook_id, count(*) as n from webhook_delivery
    where state = 'waiting' and claimed_until > $1 group by webhook_id),
  busy as (
    select w.user_name, sum(u.n) as n, coalesce(sum(u.n) filter (where w.silent), 0) as silent_n
    from under_way u join webhook w on w.id = u.webhook_id
    group by w.user_name),
  due as (
    select p.*, w.user_name, w.silent, coalesce(b.n, 0) as n, coalesce(b.silent_n, 0)
      + row_number() over (partition by w.user_name, w.silent order by p.next_attempt, p.number) as silent_place
    from webhook w
    left join under_way u on u.webhook_id = w.id
    left join busy b on b.user_name = w.user_name
    cross join lateral (
      select d.number, d.next_attempt from webhook_delivery d
      where d.webhook_id = w.id and ${DUE}
      order by d.next_attempt, d.number
      limit greatest(0, case when w.silent then 1 else $4::int end - coalesce(u.n, 0))) p
    where w.id = any($3::uuid[])),
  placed as (
    select number,
      n + row_number() over (partition by user_name order by silent desc, next_attempt, number) as place
    from due where not silent or silent_place <= $7)
  update webhook_delivery d set claimed_until = $2
  where d.number in (select number from placed where place <= $6 order by place limit $5)
  returning ${COLUMNS}`;

/**
 * What came of $1. Later ones of its subject wait as long as it does, and no longer: so only what can be sent is ever due,
 * however much waits behind receivers that do not answer.
 */
const NOTE = `with noted as (
    update webhook_delivery set state = $2, status = $3, error = $4, attempts = attempts + 1,
      tried_since = coalesce(tried_since, $5), next_attempt = $6, claimed_until = null,
      finished_at = case when $7 then $5::timestamptz end
    where number = $1 and state = 'waiting'
    returning webhook_id, subject, in_order)
  update webhook_delivery f set next_attempt = $6 from noted n
  where n.in_order and f.webhook_id = n.webhook_id and f.subject = n.subject
    and f.state = 'waiting' and f.in_order and f.number > $1 and f.claimed_until is null
    and case when $7 then f.next_attempt > $6 else f.next_attempt < $6 end`;

/** Queries of deliveries. */
@Injectable()
export class DeliveriesRepository {
  constructor(
    @InjectRepository(DeliveryEntity) private readonly deliveries: Repository<DeliveryEntity>,
    private readonly database: Database,
  ) {}

  /** Adds deliveries in their order; they are due at once. Those of webhooks that have been removed are left out. */
  async add(
    deliveries: readonly NewDelivery[],
    now: Date,
    transaction: Transaction,
  ): Promise<void> {
    await this.insert(transaction, deliveries, now, { inOrder: true, claimedUntil: null });
  }

  /** Adds one that the caller sends itself and nobody else; undefined when the webhook has been removed. */
  async addClaimed(
    delivery: NewDelivery,
    now: Date,
    leaseMs: number,
  ): Promise<DeliveryEntity | undefined> {
    const claimedUntil = new Date(now.getTime() + leaseMs);
    await this.insert(this.database, [delivery], now, { inOrder: false, claimedUntil });
    const { webhookId, id } = delivery;
    return this.find(webhookId, id);
  }

  private async insert(
    queryable: Queryable,
    deliveries: readonly NewDelivery[],
    now: Date,
    { inOrder, claimedUntil }: Pick<DeliveryEntity, 'inOrder' | 'claimedUntil'>,
  ): Promise<void> {
    await queryable.execute({
      name: 'webhook-deliveries-add',
      text: `with kept as materialized (
          select id from webhook where id = any($2::uuid[]) for key share)
        insert into webhook_delivery (id, webhook_id, type, subject, body, rights,
          in_order, claimed_until, created_at, next_attempt)
        select d.id, d.webhook_id, d.type, d.subject, d.body, d.rights, $7, $8, $9, $9
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
          with ordinality d (id, webhook_id, type, subject, body, rights, place)
        join kept k on k.id = d.webhook_id
        order by d.place`,
      values: [
        deliveries.map(({ id }) => id),
        deliveries.map(({ webhookId }) => webhookId),
        deliveries.map(({ type }) => type),
        deliveries.map(({ subject }) => subject),
        deliveries.map(({ body }) => body),
        deliveries.map(({ rights }) => JSON.stringify(rights)),
        inOrder,
        claimedUntil,
        now,
      ],
    });
  }

  /**
   * Takes what is due until the lease ends: of enabled webhooks, the first of each subject, no more than `perWebhook` of one and
   * `perUser` of a user, few of them silent; users that have less under way come first. The rows of the webhooks are held meanwhile, so that
   * two instances never count the same one at once.
   */
  async claim(now: Date, limits: ClaimLimits): Promise<DeliveryEntity[]> {
    return this.database.transaction(async (transaction) => {
      const ready = await transaction.query<{ id: string }>({
        name: 'webhooks-ready',
        text: `select w.id from webhook w
          where w.enabled and exists (
            select from webhook_delivery d where d.webhook_id = w.id and ${DUE})
          order by random() limit ${WEBHOOKS_AT_ONCE} for no key update skip locked`,
        values: [now],
      });
      if (ready.length === 0) return [];
      const { most, perWebhook, perUser, silentPerUser, leaseMs } = limits;
      return transaction.query<DeliveryEntity>({
        name: 'webhook-deliveries-claim',
        text: CLAIM,
        values: [
          now,
          new Date(now.getTime() + leaseMs),
          ready.map(({ id }) => id),
          perWebhook,
          most,
          perUser,
          silentPerUser,
        ],
      });
    });
  }

  /** The end of a delivery. */
  async finish(
    number: number,
    state: Exclude<DeliveryState, 'waiting'>,
    result: AttemptResult,
    now: Date,
  ): Promise<void> {
    await this.note(number, { ...result, state, now, finished: true, next: now });
  }

  /** Tries it again at `next`. */
  async retry(number: number, result: AttemptResult, next: Date, now: Date): Promise<void> {
    await this.note(number, { ...result, state: 'waiting', now, finished: false, next });
  }

  private async note(
    number: number,
    end: AttemptResult & { state: DeliveryState; now: Date; finished: boolean; next: Date },
  ): Promise<void> {
    await this.database.write({
      name: 'webhook-delivery-note',
      text: NOTE,
      values: [number, end.state, end.status, end.error, end.now, end.next, end.finished],
    });
  }

  /** Gives claimed ones back as if nothing had been tried; they are due at `next`. */
  async release(numbers: readonly number[], next: Date): Promise<void> {
    await this.database.execute({
      name: 'webhook-deliveries-release',
      text: `update webhook_delivery set claimed_until = null, next_attempt = $2
        where number = any($1::bigint[]) and state = 'waiting'`,
      values: [numbers, next],
    });
  }

  /** What waits begins anew: due at once, with all its time. */
  async restart(webhookId: string, now: Date): Promise<void> {
    const anew = { nextAttempt: now, triedSince: null };
    await this.database.transaction(({ manager }) =>
      manager.update(DeliveryEntity, { webhookId, state: 'waiting' }, anew),
    );
  }

  /** Sends it once more, at once and beside the order; one that waits is due now. */
  async replay(number: number, now: Date): Promise<void> {
    await this.database.execute({
      name: 'webhook-delivery-replay',
      text: `update webhook_delivery set state = 'waiting', next_attempt = $2, finished_at = null,
          tried_since = null, in_order = in_order and state = 'waiting'
        where number = $1`,
      values: [number, now],
    });
  }

  async find(webhookId: string, id: string): Promise<DeliveryEntity | undefined> {
    return (await this.deliveries.findOneBy({ webhookId, id })) ?? undefined;
  }

  /** Those of a webhook, newest first, before the number. */
  async list(
    webhookId: string,
    { limit, before, state }: { limit: number; before?: number; state?: DeliveryState },
  ): Promise<DeliveryEntity[]> {
    const which = {
      webhookId,
      ...(before !== undefined && { number: LessThan(before) }),
      ...(state !== undefined && { state }),
    };
    return this.deliveries.find({ where: which, order: { number: 'DESC' }, take: limit });
  }

  /** Removes what has ended before, and what waits for a webhook that was disabled before; at most `limit` rows. */
  async removeOld(before: Date, limit: number): Promise<number> {
    return this.database.execute({
      name: 'webhook-deliveries-remove',
      text: `delete from webhook_delivery where number in (
        (select number from webhook_delivery where state <> 'waiting' and finished_at < $1 limit $2)
        union all
        (select d.number from webhook w join webhook_delivery d on d.webhook_id = w.id
         where not w.enabled and w.disabled_at < $1 and d.created_at < $1 and d.state = 'waiting' limit $2))`,
      values: [before, limit],
    });
  }

  /** Removes all but the latest `most` of each webhook that have ended; at most `limit` rows. */
  async removeMany(most: number, limit: number): Promise<number> {
    return this.database.execute({
      name: 'webhook-deliveries-trim',
      text: `delete from webhook_delivery where number in (
        select d.number from webhook w cross join lateral (
          select number from webhook_delivery d
          where d.webhook_id = w.id and d.state <> 'waiting' order by number desc offset $1
        ) d limit $2)`,
      values: [most, limit],
    });
  }
}
