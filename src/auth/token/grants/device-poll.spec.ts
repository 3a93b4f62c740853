import type { DeviceAuthorizationEntity } from '../../stores/device-authorization.entity.js';
import { refusalOf } from './device-poll.js';

const NOW = Date.UTC(2026, 0, 2);

const WAITING: DeviceAuthorizationEntity = {
  deviceCodeHash: 'h',
  userCode: 'BCDFGHJK',
  clientId: 'gridgate-cli',
  scope: null,
  group: null,
  setup: null,
  consentId: null,
  audience: null,
  status: 'pending',
  intervalSeconds: 5,
  polledAt: null,
  expiresAt: new Date(NOW + 1),
};

/** Status, error, text and the interval from now on. */
function answer(change: Partial<DeviceAuthorizationEntity>): unknown[] | undefined {
  const refusal = refusalOf({ ...WAITING, ...change }, NOW);
  if (!refusal) return undefined;
  const { problem, intervalSeconds } = refusal;
  return [problem.status, problem.error, problem.detail, intervalSeconds];
}

const expired = [400, 'expired_token', 'The codes have expired', undefined];
const denied = [400, 'access_denied', 'The user has refused', undefined];
const pending = [400, 'authorization_pending', 'The user has not decided yet', 5];
const slower = [400, 'slow_down', 'Ask every 10 seconds', 10];
const used = [
  400,
  'invalid_grant',
  'The device code is unknown, expired, used or not yours',
  undefined,
];

describe('a poll of a device', () => {
  it('is answered with a token only when the user has let the device in', () => {
    expect(answer({ status: 'allowed' })).toBeUndefined();
    expect(answer({ status: 'pending' })).toEqual(pending);
    expect(answer({ status: 'denied' })).toEqual(denied);
    expect(answer({ status: 'used' })).toEqual(used);
  });

  it.each<[DeviceAuthorizationEntity['status'], unknown[]]>([
    ['pending', expired],
    ['allowed', expired],
    ['used', expired],
    ['denied', denied],
  ])('that comes too late while the device is %s', (status, expected) => {
    expect(answer({ status, expiresAt: new Date(NOW) })).toEqual(expected);
  });

  it.each([
    [4500, pending],
    [4499, slower],
    [0, slower],
    [-1000, slower],
  ])('%d ms after the one before, at an interval of 5 s', (pauseMs, expected) => {
    expect(answer({ polledAt: new Date(NOW - pauseMs) })).toEqual(expected);
  });

  it('makes a device that is told to slow down wait the longer interval', () => {
    const polledAt = new Date(NOW - 9_499);
    expect(answer({ polledAt, intervalSeconds: 10 })).toEqual([
      ...[400, 'slow_down', 'Ask every 15 seconds', 15],
    ]);
    expect(answer({ polledAt: new Date(NOW - 9_500), intervalSeconds: 10 })?.[3]).toBe(10);
  });
});
