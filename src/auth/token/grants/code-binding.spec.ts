import { createHash } from 'node:crypto';
import type { Client } from '#src/registry/index.js';
import type { AuthorizationCodeEntity } from '../../stores/authorization-code.entity.js';
import { isBoundTo } from './code-binding.js';

const NOW = Date.UTC(2026, 0, 2);
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const CALLBACK = 'https://portal.example/callback';

const client: Client = {
  id: 'portal',
  name: 'Portal',
  redirectUris: [CALLBACK, 'https://portal.example/other'],
  confidential: true,
  origin: 'file',
};

const CODE: AuthorizationCodeEntity = {
  hash: 'h',
  consentId: 'c',
  redirectUri: CALLBACK,
  codeChallenge: CHALLENGE,
  dpopKey: null,
  expiresAt: new Date(NOW + 1),
  usedAt: null,
  nonce: null,
};

function isBound(change: Partial<AuthorizationCodeEntity>, sent: Record<string, string>): boolean {
  return isBoundTo({ ...CODE, ...change }, { form: sent, client, now: NOW });
}

const right = { redirect_uri: CALLBACK, code_verifier: VERIFIER };
const { redirect_uri: _callback, ...withoutRedirect } = right;
const { code_verifier: _verifier, ...withoutVerifier } = right;

describe('what an authorization code is bound to', () => {
  it.each<[string, Partial<AuthorizationCodeEntity>, Record<string, string>, boolean]>([
    ['redirect URI and verifier of the request', {}, right, true],
    ['a redirect URI that is not repeated', {}, withoutRedirect, false],
    [
      'another registered redirect URI',
      {},
      { ...right, redirect_uri: 'https://portal.example/other' },
      false,
    ],
    ['no redirect URI, as none was sent', { redirectUri: null }, withoutRedirect, true],
    ['a registered one though none was sent', { redirectUri: null }, right, true],
    [
      'a foreign one though none was sent',
      { redirectUri: null },
      { ...right, redirect_uri: 'https://evil.example/' },
      false,
    ],
    ['no verifier of a challenge', {}, withoutVerifier, false],
    ['the verifier of another challenge', {}, { ...right, code_verifier: 'w'.repeat(43) }, false],
    ['the challenge as its verifier', {}, { ...right, code_verifier: CHALLENGE }, false],
    ['no verifier without a challenge', { codeChallenge: null }, withoutVerifier, true],
    ['a verifier without a challenge', { codeChallenge: null }, right, false],
  ])('%s', (_what, change, sent, expected) => {
    expect(isBound(change, sent)).toBe(expected);
  });

  it('ends with its time, but a used code is noticed however late it comes back', () => {
    const late = { expiresAt: new Date(NOW) };
    expect(isBound(late, right)).toBe(false);
    expect(isBound({ ...late, usedAt: new Date(NOW - 1) }, right)).toBe(true);
    expect(isBound({ ...late, usedAt: new Date(NOW - 1) }, withoutVerifier)).toBe(false);
  });
});
