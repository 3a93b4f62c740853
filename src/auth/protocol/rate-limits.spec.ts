import { jest } from '@jest/globals';
import { OAuthProblem } from '#src/kernel/index.js';
import { setClientAddress } from '#src/http/messages.js';
import type { Config } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { RateLimits } from './rate-limits.js';

function from(address: string): HttpRequest {
  const request = {} as HttpRequest;
  setClientAddress(request, address);
  return request;
}

const limitsOf = (rateToken: number): RateLimits =>
  new RateLimits({ rateToken, rateAuthorize: 0 } as unknown as Config);

const BLOCKED = [
  ...[429, 'temporarily_unavailable', 1],
  'Too many wrong secrets of this application from your address',
];

/** Status, error, Retry-After and text of the refusal; undefined when a secret is looked at. */
async function asked(limits: RateLimits, client: string, address: string): Promise<unknown> {
  try {
    await limits.requireGuess(client, from(address));
    return undefined;
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error;
    return [error.status, error.error, error.retryAfterSeconds, error.detail];
  }
}

async function guess(limits: RateLimits, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) await limits.countGuess('app', from('192.0.2.1'));
}

describe('wrong secrets of an application', () => {
  beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }));
  afterEach(() => jest.useRealTimers());

  it('are as many in a second as an address may ask for tokens; then none is looked at until it is over', async () => {
    const limits = limitsOf(500);
    await guess(limits, 499);
    expect(await asked(limits, 'app', '192.0.2.1')).toBeUndefined();
    await guess(limits, 1);
    expect(await asked(limits, 'app', '192.0.2.1')).toEqual(BLOCKED);
    jest.advanceTimersByTime(900);
    expect(await asked(limits, 'app', '192.0.2.1')).toEqual(BLOCKED);
    jest.advanceTimersByTime(101);
    expect(await asked(limits, 'app', '192.0.2.1')).toBeUndefined();
  });

  it('hinder neither others at the address nor the application elsewhere', async () => {
    const limits = limitsOf(500);
    await guess(limits, 1_000);
    expect(await asked(limits, 'other', '192.0.2.1')).toBeUndefined();
    expect(await asked(limits, 'app', '192.0.2.2')).toBeUndefined();
    expect(await asked(limits, 'app', '192.0.2.1')).toEqual(BLOCKED);
  });

  it('are not counted where token requests are not', async () => {
    const limits = limitsOf(0);
    await guess(limits, 1_000);
    expect(await asked(limits, 'app', '192.0.2.1')).toBeUndefined();
  });
});
