import { sha256 } from '#src/kernel/index.js';
import type { BrowserSessionEntity } from '../sign-in/sessions/browser-session.entity.js';
import { AuthorizationError } from './authorization-error.js';
import { isMet, readPrompt, type SignInDemand } from './sign-in-demand.js';

const NOW = Date.UTC(2026, 0, 2);
const ADDRESS = '/oauth2/auth?prompt=login';

function met(
  demand: Partial<SignInDemand>,
  session: Partial<BrowserSessionEntity> = {},
  subject = 'alice',
): boolean {
  const all = {
    isSilent: false,
    isFresh: false,
    maxAgeSeconds: undefined,
    loginHint: undefined,
    subject: undefined,
    ...demand,
  };
  const at = new Date(NOW - 10_000);
  const signedIn = { createdAt: at, authenticatedAt: at, signedInFor: null, ...session };
  const state = { subject, session: signedIn as BrowserSessionEntity, address: ADDRESS, now: NOW };
  return isMet(all, state);
}

describe('prompt', () => {
  it.each([
    [undefined, { isSilent: false, isFresh: false }],
    ['', { isSilent: false, isFresh: false }],
    ['none', { isSilent: true, isFresh: false }],
    ['consent', { isSilent: false, isFresh: false }],
    ['login consent', { isSilent: false, isFresh: true }],
    ['select_account', { isSilent: false, isFresh: true }],
  ])('%j is %j', (prompt, read) => {
    expect(readPrompt(prompt)).toEqual(read);
  });

  it.each(['none login', 'consent none', 'create', 'login,consent', 'None'])(
    '%j is refused',
    (prompt) => {
      expect(() => readPrompt(prompt)).toThrow(AuthorizationError);
    },
  );
});

describe('a sign-in', () => {
  it('does for a request that demands nothing', () => {
    expect(met({})).toBe(true);
  });

  it.each([
    [11, true],
    [10, true],
    [9, false],
    [0, false],
  ])('of ten seconds ago does for max_age=%j: %j', (maxAgeSeconds, does) => {
    expect(met({ maxAgeSeconds })).toBe(does);
  });

  it('does not do where a fresh one is demanded, unless it was for this very request', () => {
    expect(met({ isFresh: true })).toBe(false);
    expect(met({ isFresh: true }, { signedInFor: sha256(ADDRESS) })).toBe(true);
    expect(met({ isFresh: true }, { signedInFor: sha256(`${ADDRESS}&state=2`) })).toBe(false);
    expect(met({ maxAgeSeconds: 0 }, { signedInFor: sha256(ADDRESS) })).toBe(true);
  });

  it('for this very request does for ten minutes', () => {
    const at = (ms: number): Partial<BrowserSessionEntity> => ({
      signedInFor: sha256(ADDRESS),
      createdAt: new Date(NOW - ms),
      authenticatedAt: new Date(0),
    });
    expect(met({ isFresh: true }, at(600_000))).toBe(true);
    expect(met({ isFresh: true }, at(600_001))).toBe(false);
  });

  it('of nobody knows when does for no max_age', () => {
    expect(met({ maxAgeSeconds: 1e9 }, { authenticatedAt: null })).toBe(false);
    expect(met({}, { authenticatedAt: null })).toBe(true);
  });

  it('of somebody else never does', () => {
    expect(met({ subject: 'alice' })).toBe(true);
    expect(met({ subject: 'alice' }, { signedInFor: sha256(ADDRESS) }, 'bob')).toBe(false);
  });
});
