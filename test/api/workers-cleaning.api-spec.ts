import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SiteSecretEntity } from '../../src/jobs/workers/site-secret.entity.js';
import { SiteSecretsRepository } from '../../src/jobs/workers/site-secrets.repository.js';
import { WorkerEntity } from '../../src/jobs/workers/worker.entity.js';
import { WorkersRepository } from '../../src/jobs/workers/workers.repository.js';
import { WorkersService } from '../../src/jobs/workers/workers.service.js';
import type { Audit } from '../../src/audit/index.js';
import type { Database } from '../../src/database/index.js';
import type { ScheduledTask, Scheduler } from '../../src/runtime/scheduler.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const HOUR = 3_600_000;
const ago = (hours: number): Date => new Date(NOW - hours * HOUR);

/** Name → when it was seen, and when it went, in hours before now. */
const WORKERS: Record<string, [seen: number, removed?: number]> = {
  here: [0],
  'silent for a weekend': [60],
  'silent for 30 days': [30 * 24 + 1],
  'gone for an hour': [30, 1],
  'gone for a day': [30, 25],
};

/** Id → when it was revoked, in hours before now, and whose it is. */
const SECRETS: Record<string, [revoked: number | undefined, worker?: string]> = {
  open: [undefined],
  'revoked now': [1],
  'revoked before': [25],
  'revoked, but of a worker': [25, 'here'],
  'revoked, of one that is gone': [25, 'gone for a day'],
};

describe('the task that removes workers which are gone', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  beforeAll(async () => {
    scratch = await scratchDatabase();
    database = await scratch.open();
  });
  afterAll(() => scratch?.remove());

  it('keeps those of a day, those that may come back, and the secrets of both', async () => {
    const workers = database.dataSource.getRepository(WorkerEntity);
    const secrets = database.dataSource.getRepository(SiteSecretEntity);
    const said = { site: 'A', version: '1', protocol: 1, facts: {}, drainingAt: null };
    for (const [name, [seen, removed]] of Object.entries(WORKERS)) {
      const [secretId = ''] = Object.entries(SECRETS).find(([, [, of]]) => of === name) ?? [];
      await workers.insert({
        ...{ ...said, id: crypto.randomUUID(), jkt: name, secretId, name },
        ...{ createdAt: ago(seen), seenAt: ago(seen) },
        removedAt: removed === undefined ? null : ago(removed),
      });
    }
    for (const [id, [revoked]] of Object.entries(SECRETS)) {
      const made = { createdAt: ago(100), createdBy: 'test', reusable: true, jkt: null };
      const revokedAt = revoked === undefined ? null : ago(revoked);
      await secrets.insert({ id, site: 'A', hash: '', ...made, revokedAt });
    }
    let task: ScheduledTask | undefined;
    const scheduler = { add: (given: ScheduledTask) => (task = given) };
    new WorkersService(
      { jobLease: 60 },
      { now: () => NOW },
      database,
      new WorkersRepository(database, workers),
      new SiteSecretsRepository(secrets),
      {} as Audit,
      scheduler as unknown as Scheduler,
    ).onApplicationBootstrap();
    const { signal } = new AbortController();
    for (let round = 0; round < 2; round += 1) {
      await database.transaction(async (transaction) => task!.run({ signal, transaction }));
      const left = await workers.find();
      expect(Object.fromEntries(left.map(({ name, removedAt }) => [name, removedAt]))).toEqual({
        here: null,
        'silent for a weekend': null,
        'silent for 30 days': new Date(NOW),
        'gone for an hour': ago(1),
      });
      expect((await secrets.find()).map(({ id }) => id).sort()).toEqual(
        ['open', 'revoked now', 'revoked, but of a worker'].sort(),
      );
    }
  });
});
