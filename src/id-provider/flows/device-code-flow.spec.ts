import { setUp } from '../testing/answering-provider.js';
import { ConnectionError, ReadTimeout } from '#src/http-client/index.js';
import { HttpError, OAuth2Token, OAuthError } from '#src/oauth2-client/index.js';
import { deviceInstructions, limitsOfReply, waitForToken } from './device-code-flow.js';

const REPLY = { device_code: 'd', user_code: 'AB-CD', verification_uri: 'https://as.test/device' };

/** A clock in which waiting takes no time. */
function virtualClock() {
  let now = 0;
  return {
    now: () => now,
    sleep: (milliseconds: number) => {
      now += milliseconds;
      return Promise.resolve();
    },
  };
}

const pending = new OAuthError('authorization_pending');

/** Polls that fail one after the other, then succeed; answers the seconds at which they came. */
async function pollTimes(failures: Error[], limits = { interval: 5, timeout: 300 }) {
  const clock = virtualClock();
  const times: number[] = [];
  let outcome: unknown;
  try {
    await waitForToken(
      'd',
      limits,
      () => {
        times.push(clock.now() / 1000);
        const failure = failures[times.length - 1];
        return failure === undefined
          ? Promise.resolve(new OAuth2Token({ access_token: 'a' }))
          : Promise.reject(failure);
      },
      clock,
    );
    outcome = 'token';
  } catch (error) {
    outcome = (error as OAuthError).error ?? (error as Error).name;
  }
  return { times, outcome, ended: clock.now() / 1000 };
}

describe('waitForToken (RFC 8628 §3.5)', () => {
  const html = new HttpError('', { status: 404 });
  const busy = new HttpError('', { status: 503, retryable: true, retryAfter: 30 });

  it.each([
    ['the first poll after one interval', [], [5], 'token'],
    ['authorization_pending continues', [pending, pending], [5, 10, 15], 'token'],
    [
      'slow_down adds 5 s for good',
      [new OAuthError('slow_down'), pending, new OAuthError('slow_down'), pending],
      [5, 15, 25, 40, 55],
      'token',
    ],
    ['a time-out doubles for good', [new ReadTimeout('x'), pending], [5, 15, 25], 'token'],
    ['a broken connection too', [new ConnectionError('x')], [5, 15], 'token'],
    ['503 waits as long as it says', [busy, pending], [5, 35, 40], 'token'],
    ['a page of a proxy is waited out', [html], [5, 15], 'token'],
    ['access_denied', [new OAuthError('access_denied')], [5], 'access_denied'],
    ['expired_token', [new OAuthError('expired_token')], [5], 'expired_token'],
    ['a redirect', [new HttpError('', { status: 302 })], [5], 'http_error'],
    ['JSON without error', [new HttpError('', { status: 400, hasJson: true })], [5], 'http_error'],
    ['a fault of ours', [new TypeError('x')], [5], 'TypeError'],
  ])('%s', async (_name, failures, times, outcome) => {
    expect(await pollTimes(failures)).toMatchObject({ times, outcome });
  });

  it('polls exactly 60 times with 5 and 300, then times out at 300 s', async () => {
    const result = await pollTimes(Array.from({ length: 99 }, () => pending));
    expect(result.times).toHaveLength(60);
    expect(result).toMatchObject({ outcome: 'timeout', ended: 300 });
  });
});

describe('deviceAuthorization', () => {
  it.each<[members: Record<string, unknown>, expected: object]>([
    [{}, { interval: 5, timeout: 300 }],
    [
      { interval: 7, expires_in: 100 },
      { interval: 7, timeout: 100 },
    ],
    [
      { interval: 0, expires_in: 1800 },
      { interval: 5, timeout: 300 },
    ],
    [
      { interval: '9', expires_in: 'x' },
      { interval: 5, timeout: 300 },
    ],
  ])('waits as %j says', (members, expected) => {
    expect(limitsOfReply({ ...REPLY, ...members })).toEqual(expected);
  });

  it('shows the complete URI, or URI and code; control characters never reach the terminal', () => {
    expect(deviceInstructions(REPLY)).toBe('Open https://as.test/device and enter the code AB-CD');
    const complete = { ...REPLY, verification_uri_complete: 'https://as.test/d?c=\u001b[2JAB' };
    expect(deviceInstructions(complete)).toBe('Open https://as.test/d?c=[2JAB (code AB-CD)');
  });
});

describe('waitFinalStatusOfDeviceCodeAuthorizationFlow', () => {
  const pending = { '/token': { error: 'authorization_pending' } };
  const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

  it.each<[given: [] | [number] | [number, number] | [object], polls: number, waits: number[]]>([
    [[], 60, [...times(60, 5), 0]],
    [[7], 42, [...times(42, 7), 6]],
    [[10, 25], 2, [10, 10, 5]],
    [[{ interval: 10, timeout: 25 }], 2, [10, 10, 5]],
    [[{ timeout: 12 }], 2, [5, 5, 2]],
  ])('%j', async (given, polls, waits) => {
    const provider = setUp({}, pending);
    const wait = (
      provider.idp.waitFinalStatusOfDeviceCodeAuthorizationFlow as (
        ...all: unknown[]
      ) => Promise<unknown>
    ).bind(provider.idp);
    expect(await wait('d', ...given)).toMatchObject({ OK: false, Errno: 'timeout' });
    expect([provider.forms.length, provider.waits]).toEqual([polls, waits]);
  });

  it('deviceAuthorization waits as the reply says', async () => {
    const reply = { device_code: 'd', user_code: 'u', verification_uri: 'https://idp.test/u' };
    const lines: string[] = [];
    const print = (line: string): void => void lines.push(line);
    const own = setUp({}, { ...pending, '/device': { ...reply, interval: 20, expires_in: 50 } });
    expect(await own.idp.deviceAuthorization(null, { print })).toMatchObject({ Errno: 'timeout' });
    expect(own.waits).toEqual([20, 20, 10]);
    const silent = setUp({}, { ...pending, '/device': reply });
    await silent.idp.deviceAuthorization({ print });
    expect(silent.waits).toEqual([...times(60, 5), 0]);
    expect(lines).toEqual(times(2, 'Open https://idp.test/u and enter the code u'));
  });
});
