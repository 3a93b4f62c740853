/**
 * How the operations of the client may be called, as the compiler sees it: `npm run types` checks this file, nothing runs
 * it. A line below `@ts-expect-error` must not compile; when it does, or when another line does not, the check fails.
 */
import {
  type OAuth2Client,
  OAuth2IdProvider,
  type OAuth2Session,
  type Session,
  type ErrorResult,
  type Result,
  type SuccessResult,
} from '#src/grid.js';

declare const http: Session;
declare const client: OAuth2Client;
declare const session: OAuth2Session;
declare const idp: OAuth2IdProvider;
const url = 'https://as.test/x';

/** Fails to compile unless both types are the same. */
function same<A, B>(
  ..._equal: (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? [] : [never]
): void {}

// @ts-expect-error the check itself fails when they differ
same<string, string | null>();

export async function verbs(): Promise<void> {
  await http.get(url, { timeout: 5, params: { a: ['b', 'c'] } });
  await http.get(new URL(url), null);
  await http.head(url);
  await http.options(url, { allow_redirects: false });
  await http.delete(url, { json: { a: 1 } });
  await http.post(url, 'data', { a: 1 }, { timeout: 5 });
  await http.post(url, null, { a: 1 });
  await http.post(url, { data: 'a', json: 1 });
  await http.put(url, 'data', { timeout: 5 });
  await http.patch(url, new URLSearchParams('a=1'));
  await http.request('GET', url, { stream: true });
  // @ts-expect-error GET has no place for data
  await http.get(url, 'data');
  // @ts-expect-error a place too many
  await http.put(url, 'data', {}, {});
  // @ts-expect-error a session without tokens has no withhold_token
  await http.request('GET', url, { withhold_token: true });
  // @ts-expect-error a time in words
  await http.get(url, { timeout: 'long' });
  // @ts-expect-error a URL is text or a URL
  await http.get(7);
}

export async function requestsWithToken(): Promise<void> {
  await client.request('GET', url, true, ['u', 'p'], { timeout: 5 });
  await client.request('GET', url, false);
  await client.request('GET', url, null, null);
  await client.request('GET', url, { withhold_token: true, auth: ['u', 'p'] });
  await client.get(url, { withhold_token: true });
  // @ts-expect-error withhold_token is true or false
  await client.request('GET', url, 'yes');
  // @ts-expect-error auth stands behind withhold_token
  await client.request('GET', url, ['u', 'p']);
}

export async function tokenOperations(): Promise<void> {
  const asked = await client.create_authorization_url(url, 'state', 'verifier', { nonce: 'n' });
  asked satisfies [authorization_url: string, state: string];
  await client.create_authorization_url(url, { state: 's', max_age: 0 });
  await client.create_authorization_url({ url });
  // @ts-expect-error code_verifier is text
  await client.create_authorization_url(url, 'state', 7);

  const token = await client.fetch_token(url, 'a=1', 'GET', { 'X-A': '1' }, ['u', 'p'], 'x', 's', {
    a: 'b',
  });
  token.access_token satisfies string | undefined;
  await client.fetch_access_token(url, { grant_type: 'client_credentials', audience: ['a', 'b'] });
  await client.fetch_token({ url, code: 'c', authorization_response: null });
  await client.fetch_token();
  await client.fetch_token(null, null, null, null, null, 'client_credentials');
  // @ts-expect-error headers stand behind the method
  await client.fetch_token(url, 'a=1', { 'X-A': 1 }, 'GET');
  // @ts-expect-error eight places
  await client.fetch_token(url, '', 'POST', null, null, 'x', 's', 'more');
  // @ts-expect-error grant_type is text
  await client.fetch_token({ url, grant_type: 7 });

  await client.refresh_token(url, 'r', 'a=1', ['u', 'p'], { 'X-A': '1' }, { scope: ['a', 'b'] });
  await client.refresh_token({ refresh_token: null });
  // @ts-expect-error auth stands before headers
  await client.refresh_token(url, 'r', 'a=1', { 'X-A': '1' }, ['u', 'p']);

  await client.revoke_token(url, 't', 'access_token', null, null, { 'X-A': '1' }, { timeout: 5 });
  const { active } = await client.introspect_token(url, { token: 't' });
  active satisfies boolean;
  // @ts-expect-error the token is text
  await client.revoke_token(url, { token: 7 });

  same<
    ReturnType<typeof client.token_from_fragment>,
    Awaited<ReturnType<typeof client.fetch_token>>
  >();
  client.token_from_fragment('https://me/#access_token=a', null);
  // @ts-expect-error the answer is needed
  client.token_from_fragment();
  same<Awaited<ReturnType<typeof client.ensure_active_token>>, true | null>();
}

export async function exchange(): Promise<void> {
  await session.exchange_token(
    url,
    's',
    'urn:x',
    'a=1',
    ['u', 'p'],
    { 'X-A': '1' },
    { audience: ['a'] },
  );
  await session.exchange_token({ url, subject_token: 's' });
  // @ts-expect-error only the session of providers exchanges tokens
  await client.exchange_token(url, 's');
  // @ts-expect-error the subject token is text
  await session.exchange_token(url, ['s']);
}

export async function provider(): Promise<void> {
  new OAuth2IdProvider({ issuer: url, entitlements: 'urn:x:y', anything: 1 });
  idp.setParameters({ client_id: null });
  // @ts-expect-error parameters are one object
  idp.setParameters(null);
  // @ts-expect-error a known flavour
  idp.setParameters({ ProviderType: 'LDAP' });

  const begun = await idp.submitNewSession(false, { session: {} });
  begun satisfies Result<string>;
  if (begun.OK) begun.Value satisfies string;
  await idp.submitNewSession({ pkce: true });
  // @ts-expect-error pkce is true or false
  await idp.submitNewSession('yes');

  (await idp.refreshToken('r', 'group')).access_token satisfies string | undefined;
  await idp.refreshToken('r', { group: 'g' });
  await idp.refreshToken({ token: 'r' });
  // @ts-expect-error two places
  await idp.refreshToken('r', 'g', 'x');
  await idp.exchangeToken('t', null, ['a']);
  // @ts-expect-error scopes are texts
  await idp.exchangeToken('t', null, [7]);
  await idp.revokeToken('t', 'access_token');
  await idp.revokeToken({ token: 't', tokenTypeHint: 'refresh_token' });
  // @ts-expect-error the name is tokenTypeHint
  await idp.revokeToken({ token: 't', hint: 'refresh_token' });
  await idp.verifyToken('t', { keys: [] }, { jkt: 'k' });
  // @ts-expect-error a key set is an object
  await idp.verifyToken('t', 'keys');
  await idp.getUserGroups('t', {}, 'older');
  await idp.getUserProfile({ accessToken: 't' });
  // @ts-expect-error the name is accessToken
  await idp.getUserProfile({ access_token: 't' });

  const done = await idp.parseAuthResponse({ method: 'GET', uri: '/cb?code=x' }, { state: 's' });
  if (done.OK) {
    const [profile, claims] = done.Value;
    profile.groups satisfies string[] | undefined;
    claims.sub satisfies string | undefined;
    same<typeof done, SuccessResult<typeof done.Value>>();
  } else same<typeof done, ErrorResult>();

  await idp.deviceAuthorization('g', { print: () => undefined });
  await idp.submitDeviceCodeAuthorizationFlow();
  await idp.waitFinalStatusOfDeviceCodeAuthorizationFlow('code', 5, 300, { signal: null as never });
  await idp.waitFinalStatusOfDeviceCodeAuthorizationFlow({ deviceCode: 'code', timeout: 10 });
  // @ts-expect-error seconds are numbers
  await idp.waitFinalStatusOfDeviceCodeAuthorizationFlow('code', '5');
  same<ReturnType<typeof idp.getGroupScopes>, string[]>();
  // @ts-expect-error a group is named
  idp.getGroupScopes();
  // @ts-expect-error scopes are one text
  idp.getScopeGroups(['a']);
}
