import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { Transaction } from '#src/database/index.js';
import { SiteSecretEntity } from './site-secret.entity.js';

/** Queries of the secrets of sites. */
@Injectable()
export class SiteSecretsRepository {
  constructor(
    @InjectRepository(SiteSecretEntity) private readonly secrets: Repository<SiteSecretEntity>,
  ) {}

  async add(secret: SiteSecretEntity): Promise<void> {
    await this.secrets.insert(secret);
  }

  async find(id: string): Promise<SiteSecretEntity | undefined> {
    return (await this.secrets.findOneBy({ id })) ?? undefined;
  }

  /** Those of the site, oldest first. */
  async ofSite(site: string): Promise<SiteSecretEntity[]> {
    return this.secrets.find({ where: { site }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /**
   * Uses it for the worker with this key, which it belongs to from then on unless it is reusable; it is not revoked before the
   * transaction ends. Of several keys at once one gets it. False when it is revoked or another key's.
   */
  async use(
    transaction: Transaction,
    { id, reusable }: Pick<SiteSecretEntity, 'id' | 'reusable'>,
    jkt: string,
  ): Promise<boolean> {
    const rows = await transaction.query(
      reusable
        ? {
            name: 'jobs-site-secret-share',
            text: 'select id from site_secret where id = $1 and revoked_at is null for share',
            values: [id],
          }
        : {
            name: 'jobs-site-secret-bind',
            text: `update site_secret set jkt = $2
              where id = $1 and revoked_at is null and (jkt is null or jkt = $2) returning id`,
            values: [id, jkt],
          },
    );
    return rows.length === 1;
  }

  /** Revokes those of the site, or one of them, that are not; their ids, with `again` also of those that were revoked before. */
  async revoke(
    transaction: Transaction,
    { site, id, now }: { site: string; id?: string | undefined; now: Date },
  ): Promise<string[]> {
    const rows = await transaction.query<{ id: string }>({
      name: 'jobs-site-secret-revoke',
      text: `update site_secret set revoked_at = coalesce(revoked_at, $3)
        where site = $1 and ($2::text is null or id = $2) returning id`,
      values: [site, id ?? null, now],
    });
    return rows.map((row) => row.id);
  }

  /** Revokes what the worker with this key at this site alone may use. */
  async revokeOwn(
    transaction: Transaction,
    { site, jkt }: { site: string; jkt: string },
    now: Date,
  ): Promise<void> {
    await transaction.query({
      name: 'jobs-site-secret-revoke-own',
      text: `update site_secret set revoked_at = $2
        where site = $1 and jkt = $3 and revoked_at is null`,
      values: [site, now, jkt],
    });
  }

  /** Removes those that were revoked before, unless there are workers of them. */
  async clean(transaction: Transaction, before: Date): Promise<void> {
    await transaction.query({
      name: 'jobs-site-secret-clean',
      text: `delete from site_secret s where s.revoked_at < $1
        and not exists (select from worker w where w.secret_id = s.id)`,
      values: [before],
    });
  }
}
