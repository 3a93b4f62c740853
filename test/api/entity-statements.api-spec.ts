import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Repository } from 'typeorm';
import { runFor } from '#src/kernel/index.js';
import { ConnectionPermits, Database } from '#src/database/index.js';
import { SigningKeyEntity } from '../../src/auth/keys/signing-key.entity.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

const KEY: SigningKeyEntity = {
  kid: 'one',
  algorithm: 'ES256',
  publicJwk: { kty: 'EC' },
  privateKey: 'sealed',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  activeFrom: null,
  longestTtlSeconds: 60,
};

describe('statements of entities', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let keys: Repository<SigningKeyEntity>;
  let permits: ConnectionPermits;

  beforeAll(async () => {
    scratch = await scratchDatabase();
    permits = new ConnectionPermits({
      connections: 1,
      maxWaiting: 0,
      maxWaitMs: 1_000,
      maxWaitWhileSilentMs: 1_000,
    });
    database = new Database(() => scratch.dataSource, undefined, permits);
    database.serveEntities();
    keys = scratch.dataSource.getRepository(SigningKeyEntity);
  });
  afterAll(() => scratch?.remove());

  it('belong to the transaction whose manager they use', async () => {
    const undone = database.transaction(async (transaction) => {
      const inside = transaction.manager.getRepository(SigningKeyEntity);
      await inside.insert({ ...KEY });
      expect(await inside.find()).toEqual([KEY]);
      expect(await transaction.query({ text: 'select kid from signing_key' })).toEqual([
        { kid: 'one' },
      ]);
      throw new Error('undo');
    });
    await expect(undone).rejects.toThrow('undo');
    expect(await keys.find()).toEqual([]);
    await database.transaction(async ({ manager }) => manager.insert(SigningKeyEntity, { ...KEY }));
    expect(await keys.find()).toEqual([KEY]);
    await keys.delete({ kid: 'one' });
  });

  it('are refused like all others when nobody more may wait, and give their place back', async () => {
    const caller = {
      ...{ key: 'alice', hasBegun: false, mayChange: true, uses: 0, permits: [] },
      signal: new AbortController().signal,
    };
    await runFor(caller, () =>
      database.transaction(async () => {
        await expect(keys.find()).rejects.toMatchObject({
          code: 'service.overloaded',
          detail: 'Too many requests at once',
        });
      }),
    );
    expect(await keys.find()).toEqual([]);
    expect(permits.busy).toBe(0);
  });

  it('fail with the Problem of a statement that took too long', async () => {
    const slow = database.transaction(async ({ manager }) => {
      await manager.query(`set local statement_timeout = '20ms'`);
      await manager.query('select pg_sleep(10)');
    });
    await expect(slow).rejects.toMatchObject({ code: 'service.unavailable', status: 503 });
    expect(permits.busy).toBe(0);
  });
});
