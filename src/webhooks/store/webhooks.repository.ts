import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThan, Repository } from 'typeorm';
import { columnsOf, Database, lockInTransaction, type Transaction } from '#src/database/index.js';
import { WebhookEntity, type SourceName } from './webhook.entity.js';

/** Whose webhooks are meant: those of a user that were made with the same group and setup. */
export type WebhookOwner = Pick<WebhookEntity, 'user' | 'group' | 'setup'>;

const COLUMNS = columnsOf(WebhookEntity, { alias: 'w' });

/** Queries of webhooks. */
@Injectable()
export class WebhooksRepository {
  constructor(
    @InjectRepository(WebhookEntity) private readonly webhooks: Repository<WebhookEntity>,
    private readonly database: Database,
  ) {}

  /** Keeps a new one, unless the user has `most` already; of several at once one after the other is counted. */
  async add(webhook: WebhookEntity, most: number): Promise<boolean> {
    return this.database.transaction(async (transaction) => {
      await lockInTransaction(transaction, 'webhookLimits');
      const repository = transaction.manager.withRepository(this.webhooks);
      if ((await repository.countBy({ user: webhook.user })) >= most) return false;
      await repository.insert(webhook);
      return true;
    });
  }

  /** Those of the owner, oldest first. */
  async ofOwner(owner: WebhookOwner): Promise<WebhookEntity[]> {
    const { user, group, setup } = owner;
    return this.webhooks.find({ where: { user, group, setup }, order: { createdAt: 'ASC' } });
  }

  async find(id: string): Promise<WebhookEntity | undefined> {
    return (await this.webhooks.findOneBy({ id })) ?? undefined;
  }

  async findAll(ids: readonly string[]): Promise<WebhookEntity[]> {
    return this.webhooks.findBy({ id: In([...ids]) });
  }

  /**
   * Changes it by what it is at that moment, which nobody changes meanwhile; answers what it was and what it is. Undefined when it
   * has been removed.
   */
  async change(
    id: string,
    changeOf: (before: WebhookEntity) => Partial<WebhookEntity>,
  ): Promise<{ before: WebhookEntity; after: WebhookEntity } | undefined> {
    return this.database.transaction(async (transaction) => {
      const repository = transaction.manager.withRepository(this.webhooks);
      const lock = { mode: 'for_no_key_update' } as const;
      const before = await repository.findOne({ where: { id }, lock });
      if (!before) return undefined;
      const change = changeOf(before);
      await repository.update({ id }, change);
      return { before, after: { ...before, ...change } };
    });
  }

  /**
   * Gives it a new secret. The one before is that of the row as it is by then: of two at once neither loses the other's. False
   * when it has been removed.
   */
  async rotate(
    id: string,
    {
      secret,
      previousUntil,
      updatedAt,
    }: Pick<WebhookEntity, 'secret' | 'previousUntil' | 'updatedAt'>,
  ): Promise<boolean> {
    const previousSecret = (): string => 'secret';
    const change = { previousSecret, secret, previousUntil, updatedAt };
    return (await this.webhooks.update({ id }, change)).affected === 1;
  }

  async remove(id: string): Promise<void> {
    await this.webhooks.delete({ id });
  }

  /** Notes whether its latest attempt was answered in time. */
  async noteSilence({ id }: WebhookEntity, silent: boolean): Promise<void> {
    await this.webhooks.update({ id, silent: !silent }, { silent });
  }

  /** Stops it; false when it was stopped already. */
  async disable(id: string, reason: string, now: Date): Promise<boolean> {
    const change = { enabled: false, disabledReason: reason, disabledAt: now };
    return (await this.webhooks.update({ id, enabled: true }, change)).affected === 1;
  }

  /** Stops all that the application has made or changed last for the user; those that were not stopped already. */
  async disableOf(
    { user, clientId }: Pick<WebhookEntity, 'user' | 'clientId'>,
    reason: string,
    now: Date,
    transaction: Transaction,
  ): Promise<WebhookEntity[]> {
    return transaction.query<WebhookEntity>({
      name: 'webhooks-disable',
      text: `update webhook w set enabled = false, disabled_reason = $3, disabled_at = $4
        where w.user_name = $1 and w.client_id = $2 and w.enabled returning ${COLUMNS}`,
      values: [user, clientId, reason, now],
    });
  }

  /** Forgets secrets that sign no longer. */
  async forgetOldSecrets(now: Date): Promise<void> {
    const none = { previousSecret: null, previousUntil: null };
    await this.webhooks.update({ previousUntil: LessThan(now) }, none);
  }

  /**
   * Enabled webhooks of the source that have not looked at all events up to `end`, those that are furthest behind first;
   * without those that have `mostWaiting` deliveries waiting.
   */
  async behind(
    source: SourceName,
    { end, mostWaiting, limit }: { end: number; mostWaiting: number; limit: number },
    transaction?: Transaction,
  ): Promise<WebhookEntity[]> {
    return (transaction ?? this.database).query<WebhookEntity>({
      name: 'webhooks-behind',
      text: `select ${COLUMNS} from webhook w
        where w.enabled and w.source = $1 and w.position < $2 and (
          select count(*) from webhook_delivery d where d.webhook_id = w.id and d.state = 'waiting'
        ) < $3
        order by w.position limit $4`,
      values: [source, end, mostWaiting, limit],
    });
  }

  /** Notes how far each of them has looked. */
  async advance(positions: ReadonlyMap<string, number>, transaction: Transaction): Promise<void> {
    await transaction.execute({
      name: 'webhooks-advance',
      text: `update webhook w set position = p.position
        from unnest($1::uuid[], $2::bigint[]) p (id, position) where w.id = p.id`,
      values: [[...positions.keys()], [...positions.values()]],
    });
  }
}
