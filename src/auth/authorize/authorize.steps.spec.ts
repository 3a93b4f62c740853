import { QueryValues, readValues } from '#src/http/index.js';
import type { Client } from '#src/registry/index.js';
import { AuthorizationError } from './authorization-error.js';
import { UnprovedRequestError } from './authorization-request.js';
import { AuthorizationQuery, AuthorizationTarget } from './authorize.request.js';
import { checkPkce, checkScope, provedRedirect } from './authorize.steps.js';

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const HOME = 'https://app.example/cb';

function client(...redirectUris: string[]): Client {
  return { id: 'app', name: 'App', redirectUris, confidential: false, origin: 'file' };
}

function redirect(search: string, asking: Client): unknown {
  try {
    return provedRedirect(readValues(AuthorizationTarget, new QueryValues(search)), asking);
  } catch (error) {
    if (error instanceof UnprovedRequestError) return [error.title, error.text, error.status];
    throw error;
  }
}

/** Error and text of the refusal; 'accepted' when there is none. */
function outcome(search: string, isRequired = true): string | string[] {
  try {
    const query = readValues(AuthorizationQuery, new QueryValues(search));
    checkPkce(query, { isRequired });
    checkScope(query);
  } catch (error) {
    if (error instanceof AuthorizationError) return [error.error, error.description];
    throw error;
  }
  return 'accepted';
}

describe('parameters of OpenID Connect', () => {
  it.each([
    ['request=eyJ', 'request_not_supported', 'request is not supported'],
    ['request_uri=https://a.example', 'request_uri_not_supported', 'request_uri is not supported'],
    ['registration={}', 'registration_not_supported', 'registration is not supported'],
    ['max_age=-1', 'invalid_request', 'max_age must be at least 0'],
    ['max_age=soon', 'invalid_request', 'max_age is not a whole number'],
    ['prompt=none&prompt=none', 'invalid_request', 'prompt is given more than once'],
    ['nonce=a&nonce=b', 'invalid_request', 'nonce is given more than once'],
  ])('%s is refused as %s', (search, error, description) => {
    expect(outcome(`response_type=code&${search}`, false)).toEqual([error, description]);
  });

  it('that are not known are ignored', () => {
    const search =
      'response_type=code&display=touch&ui_locales=de&acr_values=a&claims={}&max_age=0';
    expect(outcome(search, false)).toBe('accepted');
  });
});

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
    expect(redirect(search, client(...uris))).toEqual([
      'This request cannot be trusted',
      `${expected} Nothing was sent to anybody; tell the people who run the application.`,
      400,
    ]);
  });
});

describe('an authorization request', () => {
  const good = `response_type=code&code_challenge=${CHALLENGE}&code_challenge_method=S256`;
  const without = 'response_type=code';
  const invalid = 'invalid_request';

  it.each([
    good,
    `${good}&client_id=a&state=b&group=g&setup=s&response_mode=query`,
    `${good}&scope=jobs:read+nonsense`,
    `${good}&scope=`,
    `${good}&unknown=1&unknown=2`,
  ])('is accepted: %s', (search) => {
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
  ])('is refused with a second %s, even when both are empty', (name) => {
    const refusal = [invalid, `${name} is given more than once`];
    expect(outcome(`${name}=&${name}=`)).toEqual(refusal);
  });

  it.each([
    ['', [invalid, 'response_type is missing']],
    ['response_type=token', ['unsupported_response_type', 'response_type must be code']],
    [`${good}&response_mode=fragment`, [invalid, 'response_mode must be query']],
    [without, [invalid, 'code_challenge is required (S256)']],
    [`${without}&code_challenge_method=S256`, [invalid, 'code_challenge is missing']],
    [`${without}&code_challenge=${CHALLENGE}`, [invalid, 'code_challenge_method must be S256']],
    [
      `${without}&code_challenge=${CHALLENGE}&code_challenge_method=plain`,
      [invalid, 'code_challenge_method must be S256'],
    ],
    [
      `${without}&code_challenge=short&code_challenge_method=S256`,
      [invalid, 'code_challenge is no S256 challenge'],
    ],
    [`${good}&scope=nonsense`, ['invalid_scope', 'none of the scopes is known']],
  ])('is refused: %s', (search, refusal) => {
    expect(outcome(search)).toEqual(refusal);
  });

  it('goes without PKCE only where it is not required, and never half', () => {
    expect(outcome(without, false)).toBe('accepted');
    expect(outcome(`${without}&code_challenge_method=S256`, false)).toEqual([
      invalid,
      'code_challenge is missing',
    ]);
  });
});
