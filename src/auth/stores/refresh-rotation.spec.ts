import { createHmac } from 'node:crypto';
import type { ConsentEntity } from './consent.entity.js';
import { judge, successorOf, type Showing } from './refresh-rotation.js';
import type { RefreshTokenEntity } from './refresh-token.entity.js';

const NOW = Date.UTC(2026, 0, 2);
const at = (offsetMs: number): Date => new Date(NOW + offsetMs);

const consent: ConsentEntity = {
  id: 'grant-1',
  user: 'alice',
  clientId: 'portal',
  group: 'grid_user',
  setup: 'Prod',
  scope: 'jobs:read',
  sub: null,
  audience: null,
  dpopKey: null,
  createdAt: at(-1),
  usedAt: at(-1),
  expiresAt: at(1),
  revokedAt: null,
  authTime: null,
  acr: null,
  sid: null,
};

const fresh: RefreshTokenEntity = {
  hash: 'h',
  createdAt: at(-1),
  consentId: 'grant-1',
  expiresAt: at(1),
  usedAt: null,
  successorSeed: null,
};

const used = (offsetMs: number): RefreshTokenEntity => ({
  ...fresh,
  usedAt: at(offsetMs),
  successorSeed: 'seed',
});
const revoked = { ...consent, revokedAt: at(-1) };

describe('a refresh token that is shown', () => {
  it.each<[string, RefreshTokenEntity | undefined, ConsentEntity | undefined, Showing]>([
    ['for the first time', fresh, consent, 'first'],
    ['unknown', undefined, consent, 'refused'],
    ['of a consent that is gone', fresh, undefined, 'refused'],
    ['of a withdrawn consent', fresh, revoked, 'refused'],
    ['when it has just expired', { ...fresh, expiresAt: at(0) }, consent, 'refused'],
    ['again, at the same moment', used(0), consent, 'again'],
    ['again, at the end of the grace', used(-29_999), consent, 'again'],
    ['after the grace', used(-30_000), consent, 'replayed'],
    ['after the grace, of a withdrawn consent', used(-30_000), revoked, 'refused'],
    ['after the grace, expired', { ...used(-30_000), expiresAt: at(0) }, consent, 'refused'],
  ])('%s', (_when, stored, of, showing) => {
    expect(judge(stored, of, { now: NOW, graceSeconds: 30 })).toBe(showing);
  });

  it('is a replay at once when there is no grace', () => {
    expect(judge(used(0), consent, { now: NOW, graceSeconds: 0 })).toBe('replayed');
  });

  it('has one successor, which neither the token nor the seed alone gives', () => {
    const hmac = createHmac('sha256', 'seed').update('token').digest('base64url');
    expect(successorOf('token', 'seed')).toBe(hmac);
    expect(successorOf('token', 'other')).not.toBe(hmac);
    expect(successorOf('other', 'seed')).not.toBe(hmac);
  });
});
