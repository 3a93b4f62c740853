import { QueryValues } from '#src/platform/index.js';
import type { Client } from '#src/registry/index.js';
import { AuthorizationError, UnprovedRequestError } from './authorization-request.js';
import { provedRedirect, STEPS } from './authorize.steps.js';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const HOME = 'https://app.example/cb';

function client(...redirectUris: string[]): Client {
  return { id: 'app', name: 'App', redirectUris, confidential: false, origin: 'file' };
}

function redirect(search: string, asking: Client): unknown {
  try {
    return provedRedirect(new QueryValues(search), asking);
  } catch (error) {
    if (error instanceof UnprovedRequestError) return error.message;
    throw error;
  }
}

/** Which step refuses the request, and how; 'accepted' when none does. */
function outcome(search: string, requirePkce = true): string | string[] {
  const query = new QueryValues(search);
  for (const step of STEPS) {
    try {
      step.check(query, { requirePkce });
    } catch (error) {
      if (error instanceof AuthorizationError) return [step.name, error.error, error.description];
      throw error;
    }
  }
  return 'accepted';
}

describe('where the answer goes', () => {
  it.each([
    [`redirect_uri=${HOME}`, [HOME], { redirectUri: HOME, sentRedirectUri: HOME }],
    [`redirect_uri=${HOME}`, ['org.a:/', HOME], { redirectUri: HOME, sentRedirectUri: HOME }],
    ['', [HOME], { redirectUri: HOME, sentRedirectUri: null }],
    ['redirect_uri=', [HOME], { redirectUri: HOME, sentRedirectUri: null }],
    [`redirect_uri=&redirect_uri=${HOME}`, [HOME], { redirectUri: HOME, sentRedirectUri: HOME }],
  ])('%s of an application at %j', (search, uris, expected) => {
    expect(redirect(search, client(...uris))).toEqual(expected);
  });

  it.each([
    [`redirect_uri=${HOME}&redirect_uri=${HOME}`, [HOME], 'redirect_uri is given more than once.'],
    [
      'redirect_uri=https://evil.example/cb',
      [HOME],
      'redirect_uri is not registered for this application.',
    ],
    ['', [], 'This application has no redirect URI.'],
    ['', [HOME, 'org.a:/'], 'This application has several redirect URIs; send redirect_uri.'],
  ])('is not proved by %s of an application at %j', (search, uris, expected) => {
    expect(redirect(search, client(...uris))).toBe(expected);
  });
});

describe('the steps of an authorization request', () => {
  const good = `response_type=code&code_challenge=${CHALLENGE}&code_challenge_method=S256`;
  const without = 'response_type=code';
  const once = 'every parameter at most once';
  const invalid = 'invalid_request';

  it.each([
    good,
    `${good}&client_id=a&state=b&group=g&setup=s&response_mode=query`,
    `${good}&scope=jobs:read+nonsense`,
    `${good}&scope=`,
    `${good}&unknown=1&unknown=2`,
  ])('accept %s', (search) => {
    expect(outcome(search)).toBe('accepted');
  });

  it.each([
    'response_type',
    'client_id',
    'state',
    'scope',
    'code_challenge',
    'code_challenge_method',
    'response_mode',
    'group',
    'setup',
  ])('refuse a second %s, even when both are empty', (name) => {
    const refusal = [once, invalid, `${name} is given more than once`];
    expect(outcome(`${name}=&${name}=`)).toEqual(refusal);
  });

  it.each([
    ['', ['response type', invalid, 'response_type is missing']],
    [
      'response_type=token',
      ['response type', 'unsupported_response_type', 'response_type must be code'],
    ],
    [`${good}&response_mode=fragment`, ['response mode', invalid, 'response_mode must be query']],
    [without, ['PKCE', invalid, 'code_challenge is required (S256)']],
    [`${without}&code_challenge_method=S256`, ['PKCE', invalid, 'code_challenge is missing']],
    [
      `${without}&code_challenge=${CHALLENGE}`,
      ['PKCE', invalid, 'code_challenge_method must be S256'],
    ],
    [
      `${without}&code_challenge=${CHALLENGE}&code_challenge_method=plain`,
      ['PKCE', invalid, 'code_challenge_method must be S256'],
    ],
    [
      `${without}&code_challenge=short&code_challenge_method=S256`,
      ['PKCE', invalid, 'code_challenge is no S256 challenge'],
    ],
    [`${good}&scope=nonsense`, ['scope', 'invalid_scope', 'none of the scopes is known']],
  ])('refuse %s', (search, refusal) => {
    expect(outcome(search)).toEqual(refusal);
  });

  it('let applications go without PKCE only where it is not required, and never half', () => {
    expect(outcome(without, false)).toBe('accepted');
    expect(outcome(`${without}&code_challenge_method=S256`, false)).toEqual([
      'PKCE',
      invalid,
      'code_challenge is missing',
    ]);
  });
});
