import 'reflect-metadata';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { getRepositoryToken } from '@nestjs/typeorm';
import { LoginSessionsRepository, StoredTokensRepository } from '#src/id-provider/index.js';
import { systemClock, CLOCK } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { createLogger, ExpiredRows, LOGGER, Scheduler } from '#src/runtime/index.js';
import { LoginSessionEntity } from '../../src/id-provider/module/login-session.entity.js';
import { StoredTokenEntity } from '../../src/id-provider/module/stored-token.entity.js';
import { BrowserSessionEntity } from '../../src/auth/sign-in/sessions/browser-session.entity.js';
import { ConsentEntity } from '../../src/auth/stores/consent.entity.js';
import { DeviceAuthorizationEntity } from '../../src/auth/stores/device-authorization.entity.js';
import { RequestProofEntity } from '../../src/auth/possession/request-proof.entity.js';
import { UsedProofEntity } from '../../src/auth/possession/used-proof.entity.js';
import { UsedProofsRepository } from '../../src/auth/possession/used-proofs.repository.js';
import { PushedRequestEntity } from '../../src/auth/stores/pushed-request.entity.js';
import { PushedRequestsRepository } from '../../src/auth/stores/pushed-requests.repository.js';
import { RefreshTokenEntity } from '../../src/auth/stores/refresh-token.entity.js';
import { RevokedTokenEntity } from '../../src/auth/stores/revoked-token.entity.js';
import { ConsentsRepository } from '../../src/auth/stores/consents.repository.js';
import { DeviceAuthorizationsRepository } from '../../src/auth/stores/device-authorizations.repository.js';
import { BrowserSessionsRepository } from '../../src/auth/sign-in/sessions/browser-sessions.repository.js';
import { RefreshTokensRepository } from '../../src/auth/stores/refresh-tokens.repository.js';
import { RevocationsRepository } from '../../src/auth/stores/revocations.repository.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

/** One row of each table that grows; `$1` names it and `$2` is its end. */
const ROWS: Record<string, string> = {
  authorization_grant: `insert into authorization_grant
    values ($1, 'alice', 'demo-portal', 'grid_user', 'Prod', '', now(), now(), $2)`,
  authorization_code: `insert into authorization_code values ($1, $1, null, null, $2)`,
  refresh_token: `insert into refresh_token values ($1, $1, now(), $2)`,
  device_authorization: `insert into device_authorization
    values ($1, $1, 'demo-portal', null, null, null, $1, 'allowed', 5, null, $2)`,
  browser_session: `insert into browser_session values ($1, 'alice', 'certificate', 'x', now(), $2)`,
  login_session: `insert into login_session values ($1, '{}', null, null, $2)`,
  stored_token: `insert into stored_token values ($1, '', $2)`,
  pushed_request: `insert into pushed_request (hash, client_id, parameters, expires_at)
    values ($1, 'demo-portal', '', $2)`,
  used_proof: `insert into used_proof (id, expires_at) values ($1, $2)`,
  request_proof: `insert into request_proof (id, expires_at) values ($1, $2)`,
  revoked_token: `insert into revoked_token (id, expires_at) values ($1, $2)`,
};
const TABLES = Object.keys(ROWS);

const ENTITIES = [
  ConsentEntity,
  DeviceAuthorizationEntity,
  BrowserSessionEntity,
  PushedRequestEntity,
  RefreshTokenEntity,
  RevokedTokenEntity,
  UsedProofEntity,
  RequestProofEntity,
  LoginSessionEntity,
  StoredTokenEntity,
];

async function contextOn(database: Database): Promise<INestApplicationContext> {
  @Module({
    imports: [ScheduleModule.forRoot()],
    providers: [
      Scheduler,
      { provide: Database, useValue: database },
      { provide: CLOCK, useValue: systemClock },
      { provide: LOGGER, useValue: createLogger('error') },
      ...ENTITIES.map((entity) => ({
        provide: getRepositoryToken(entity),
        useFactory: () => database.dataSource.getRepository<object>(entity),
      })),
      RevocationsRepository,
      PushedRequestsRepository,
      UsedProofsRepository,
      ConsentsRepository,
      RefreshTokensRepository,
      DeviceAuthorizationsRepository,
      BrowserSessionsRepository,
      LoginSessionsRepository,
      StoredTokensRepository,
      {
        provide: ExpiredRows,
        useFactory: (scheduler: Scheduler) => new ExpiredRows(scheduler, database, systemClock),
        inject: [Scheduler],
      },
    ],
  })
  class CleaningModule {}
  return NestFactory.createApplicationContext(CleaningModule, { logger: false });
}

describe('the cleaning of tables that grow', () => {
  let scratch: ScratchDatabase;
  let database: Database;
  let other: Database;
  let context: INestApplicationContext;
  beforeAll(async () => {
    scratch = await scratchDatabase();
    database = await scratch.open();
    other = await scratch.open();
    context = await contextOn(database);
  });
  afterAll(async () => {
    await context?.close();
    await scratch?.remove();
  });
  beforeEach(async () => {
    await database.execute({ text: `truncate ${TABLES.join(', ')}` });
  });

  async function put(name: string, seconds: number, tables = TABLES): Promise<void> {
    const end = new Date(Date.now() + seconds * 1000);
    for (const table of tables) {
      await database.execute({ text: ROWS[table] ?? '', values: [name, end] });
    }
  }

  /** Number of rows of each table. */
  async function counts(): Promise<Record<string, number>> {
    const counted = TABLES.map(async (table) => {
      const [row] = await database.query<{ n: number }>({
        text: `select count(*)::int as n from ${table}`,
      });
      return [table, row?.n ?? -1] as const;
    });
    return Object.fromEntries(await Promise.all(counted));
  }
  /** One round of every task. */
  async function clean(): Promise<void> {
    const scheduler = context.get(Scheduler);
    // codes go with their consents
    for (const table of TABLES.filter((name) => name !== 'authorization_code')) {
      await scheduler.get(`expired.${table}`)?.runNow();
    }
  }
  const each = (n: number): Record<string, number> =>
    Object.fromEntries(TABLES.map((table) => [table, n]));

  it('is known for every table of the schema whose rows come to an end', async () => {
    const rows = await database.query<{ name: string }>({
      text: `select table_name as name from information_schema.columns
        where table_schema = 'public' and column_name = 'expires_at' order by 1`,
    });
    const elsewhere = rows.map(({ name }) => name).filter((name) => !TABLES.includes(name));
    // the room of jobs cleans its own
    expect(elsewhere.filter((name) => !name.startsWith('job_'))).toEqual([]);
  });

  it('removes what is dead from each and nothing that lives', async () => {
    await put('dead', -1);
    await put('live', 60);
    expect(await counts()).toEqual(each(2));
    await clean();
    expect(await counts()).toEqual(each(1));
    for (const table of TABLES) {
      const rows = await database.query({
        text: `select 1 from ${table} t where to_jsonb(t)::text like '%live%'`,
      });
      expect([table, rows.length]).toEqual([table, 1]);
    }
  });

  it('finds nothing to do in a second round', async () => {
    await put('dead', -1);
    await clean();
    await clean();
    expect(await counts()).toEqual(each(0));
  });

  it('keeps a consent with a live token, though its code and an older token are dead', async () => {
    await put('live', 60, ['authorization_grant']);
    await put('live', -1, ['authorization_code', 'refresh_token']);
    const end = new Date(Date.now() + 60_000);
    await database.execute({
      text: `insert into refresh_token values ('newer', 'live', now(), $1)`,
      values: [end],
    });
    await clean();
    expect(await database.query({ text: 'select token_hash as hash from refresh_token' })).toEqual([
      { hash: 'newer' },
    ]);
    expect((await counts())['authorization_grant']).toBe(1);
  });

  it('leaves it to another instance that is at it', async () => {
    await put('dead', -1);
    await other.transaction(async (transaction) => {
      await transaction.query({
        text: 'select pg_advisory_xact_lock($1, 4)',
        values: [0x67726964],
      });
      await clean();
    });
    expect(await counts()).toEqual(each(1));
    await clean();
    expect(await counts()).toEqual(each(0));
  });
});
