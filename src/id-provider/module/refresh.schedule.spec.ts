import { jest } from '@jest/globals';
import { Response, type PreparedRequest } from '#src/http-client/index.js';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { Database } from '#src/database/index.js';
import { Scheduler, type Logger } from '#src/runtime/index.js';
import { OAuth2IdProvider } from '../provider/oauth2-id-provider.js';
import type { IdProvidersService } from './id-providers.service.js';
import { RefreshSchedule } from './refresh.schedule.js';

const ISSUER = 'https://idp.test';
const METADATA = '/.well-known/openid-configuration';
const DAY_MS = 86_400_000;

/** A schedule of one provider, what it asked its server for, and the lines of the log. */
function setUp() {
  const asked: string[] = [];
  const log: string[] = [];
  const server = { isAway: false };
  const provider = new OAuth2IdProvider({ issuer: ISSUER, client_id: 'me', trust_env: false });
  const send = (request: PreparedRequest): Promise<Response> => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    const body =
      pathname === METADATA ? { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` } : { keys: [] };
    const status_code = server.isAway ? 503 : 200;
    const content = JSON.stringify(body);
    return Promise.resolve(new Response({ status_code, url: request.url, content, request }));
  };
  provider.mount('https://', { send, close: () => undefined });
  const providers = { all: () => [{ name: 'one', provider }] } as unknown as IdProvidersService;
  const logger = { warn: (_fields: object, line: string) => log.push(line) } as unknown as Logger;
  const scheduler = new Scheduler(new SchedulerRegistry(), {} as Database, logger);
  return { schedule: new RefreshSchedule(providers, scheduler, logger), asked, log, server };
}

describe('the refresh schedule', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('fetches metadata and keys soon after the start and again before a day is over, day after day', async () => {
    const { schedule, asked } = setUp();
    schedule.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(2500);
    expect(asked).toEqual([METADATA, '/keys']);
    for (let day = 2; day <= 11; day += 1) {
      await jest.advanceTimersByTimeAsync(DAY_MS);
      expect(asked.length).toBeGreaterThanOrEqual(2 * day);
    }
    // at least 0.6 of a day lies between two rounds
    expect(asked.length).toBeLessThanOrEqual(2 + (2 * 10) / 0.6);
    expect(asked.filter((path) => path === METADATA)).toHaveLength(asked.length / 2);
    await schedule.onModuleDestroy();
  });

  it('asks a provider that is away again every minute, says so each time, and goes on when it is back', async () => {
    const { schedule, asked, log, server } = setUp();
    server.isAway = true;
    schedule.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(2500);
    expect([asked, log]).toEqual([[METADATA], ['identity provider is away']]);
    await jest.advanceTimersByTimeAsync(10 * 75_000);
    expect(asked.length).toBeGreaterThanOrEqual(11);
    expect(log).toHaveLength(asked.length);
    server.isAway = false;
    asked.length = 0;
    await jest.advanceTimersByTimeAsync(75_000);
    expect(asked).toEqual([METADATA, '/keys']);
    await jest.advanceTimersByTimeAsync(DAY_MS);
    expect(asked.length).toBeGreaterThanOrEqual(4);
    await schedule.onModuleDestroy();
  });

  it('ends at once and for good when it is stopped', async () => {
    const { schedule, asked } = setUp();
    schedule.onApplicationBootstrap();
    await schedule.onModuleDestroy();
    await jest.advanceTimersByTimeAsync(2 * DAY_MS);
    expect([asked, jest.getTimerCount()]).toEqual([[], 0]);
  });
});
