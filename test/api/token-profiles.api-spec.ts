import { decodeJwt, decodeProtectedHeader } from 'jose';
import {
  addApplication,
  assertionOf,
  DpopCaller,
  makeKey,
  type TestKey,
} from '../support/applications.js';
import { ask } from '../support/grid-tokens.js';
import { claimsOf, openidTokens } from '../support/openid.js';
import { formOf, PageVisitor, pkcePair, redirectOf } from '../support/page-visitor.js';
import { allow, authorizePath, PORTAL, portalTokens } from '../support/portal.js';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

const ORIGIN = 'https://pages.example';
const CALLBACK = 'https://app.example/cb';
/** 22 characters of base64url are 132 bits. */
const SECRET = /[\w-]{22}$/;

let grid: Grid;
let key: TestKey;
let bearers: GridClient;

beforeAll(async () => {
  const env = { GRID_CODE_TTL: '300', GRID_CORS_ORIGINS: ORIGIN };
  [grid, key] = await Promise.all([startGrid({ env }), makeKey()]);
  bearers = grid.anonymous;
  const byKey = { authentication: 'private_key_jwt', jwks: { keys: [key.jwk] } };
  await addApplication(grid, { id: 'fapi', ...byKey, profile: 'fapi2' });
  await addApplication(grid, {
    ...{ id: 'fapi-tls', authentication: 'tls_client_auth', profile: 'fapi2' },
    ...{ subjectDn: '/DC=org/DC=grid/CN=stranger', scopes: ['jobs:read'], group: 'grid_user' },
  });
});
afterAll(async () => grid?.remove());

const assertion = () => assertionOf('fapi', key, { aud: grid.url });
const told = ({ status, body }: Answer): unknown[] => [status, body.error];

/** A code of the application with fapi2 for alice, and what exchanges it. */
async function code(parameters: Record<string, string> = {}) {
  const { verifier, challenge } = pkcePair();
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const asked = { response_type: 'code', redirect_uri: CALLBACK, scope: 'jobs:read', ...pkce };
  const form = { ...asked, ...parameters, ...(await assertion()) };
  const pushed = await bearers.post('/oauth2/par', { form });
  const { request_uri: uri } = pushed.body as { request_uri: string };
  const visitor = new PageVisitor(await grid.certificate('alice'));
  const query = new URLSearchParams({ client_id: 'fapi', request_uri: uri });
  const page = await visitor.open(`/oauth2/auth?${query.toString()}`);
  const back = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
  const value = back.parameters['code'] ?? '';
  const exchange = {
    ...{ grant_type: 'authorization_code', code: value },
    ...{ redirect_uri: CALLBACK, code_verifier: verifier },
  };
  return { uri, value, exchange };
}

async function exchanged(form: Record<string, string>, caller?: DpopCaller): Promise<Answer> {
  const holder = caller ?? new DpopCaller(bearers, await makeKey());
  return holder.call('POST', '/oauth2/token', { form: { ...form, ...(await assertion()) } });
}

describe('the authorization endpoint', () => {
  const origin = { origin: ORIGIN };
  const preflight = { ...origin, 'access-control-request-method': 'GET' };
  const allowed = ({ headers }: Answer): unknown => headers['access-control-allow-origin'];

  it('has no part in CORS', async () => {
    const path = authorizePath();
    for (const place of [path, path.replace('auth', 'AUTH'), path.replace('auth?', 'auth/?')]) {
      expect(allowed(await bearers.get(place, { headers: origin }))).toBeUndefined();
      expect(allowed(await bearers.call('OPTIONS', place, { headers: preflight }))).toBeUndefined();
    }
    const elsewhere = ['/oauth2/token', '/oauth2/applications', '/.well-known/jwks.json'];
    for (const place of elsewhere) {
      expect(allowed(await bearers.get(place, { headers: origin }))).toBe(ORIGIN);
      const asked = await bearers.call('OPTIONS', place, { headers: preflight });
      expect([asked.status, allowed(asked)]).toEqual([204, ORIGIN]);
    }
  });

  it.each(['allow', 'deny'])(
    'answers a form with 303, which leaves the form behind',
    async (decision) => {
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const page = await visitor.open(authorizePath());
      const answer = await visitor.send(formOf(page.body), { decision });
      expect([answer.status, redirectOf(answer).parameters['state']]).toEqual([303, 'xyz']);
    },
  );
});

describe('an application with fapi2', () => {
  it('has a code for 60 seconds, whatever GRID_CODE_TTL says', async () => {
    const left = async (client: string): Promise<number> => {
      const [row] = await grid.sql<{ seconds: number }>(
        `select extract(epoch from code.expires_at - consent.created_at)::float as seconds
           from authorization_code code join authorization_grant consent on consent.id = code.grant_id
           where consent.client_id = $1 order by code.expires_at desc limit 1`,
        [client],
      );
      return row?.seconds ?? 0;
    };
    const { exchange } = await code();
    expect(Math.round(await left('fapi'))).toBe(60);
    await allow(grid, 'alice');
    expect(Math.round(await left(PORTAL))).toBe(300);
    await grid.sql('update authorization_code set expires_at = now()');
    expect(told(await exchanged(exchange))).toEqual([400, 'invalid_grant']);
  });

  it('has a code once', async () => {
    const { exchange } = await code();
    const caller = new DpopCaller(bearers, await makeKey());
    const first = await exchanged(exchange, caller);
    expect(first.status).toBe(200);
    expect(told(await exchanged(exchange, caller))).toEqual([400, 'invalid_grant']);
  });

  it('has its nonce of 64 characters back', async () => {
    const nonce = 'n'.repeat(64);
    const { exchange } = await code({ scope: 'openid jobs:read', nonce });
    const { status, body } = await exchanged(exchange);
    expect([status, body.token_type]).toEqual([200, 'DPoP']);
    const { sub } = claimsOf(body.access_token);
    expect(claimsOf(body.id_token)).toMatchObject({ aud: 'fapi', nonce, sub });
  });

  it('is given nothing for a user name and a password', async () => {
    const form = { grant_type: 'password', username: 'alice', password: 'x', scope: 'jobs:read' };
    expect(told(await exchanged(form))).toEqual([400, 'unsupported_grant_type']);
  });

  it('shows its tokens in the header only, also with the certificate', async () => {
    const holder = await grid.certificate('stranger');
    const form = { grant_type: 'client_credentials', client_id: 'fapi-tls' };
    const { status, body } = await holder.post('/oauth2/token', { form });
    expect(status).toBe(200);
    const headers = { authorization: `Bearer ${body.access_token}` };
    expect((await holder.get('/jobs', { headers })).status).toBe(200);
    const inQuery = await holder.get('/jobs', { query: { access_token: body.access_token } });
    expect([inQuery.status, inQuery.body.code]).toEqual([401, 'auth.token-missing']);
  });
});

describe('an ID token', () => {
  it('says what the WLCG profile wants of every token, and names the groups that were asked for', async () => {
    const scope = 'openid wlcg.groups:/vo/grid_user';
    const { status, body } = await openidTokens(grid, 'alice', { scope });
    expect(status).toBe(200);
    const [access, id] = [claimsOf(body.access_token), claimsOf(body.id_token)];
    expect(decodeProtectedHeader(body.id_token)).toEqual({
      alg: 'ES256',
      typ: 'JWT',
      kid: decodeProtectedHeader(body.access_token).kid,
    });
    expect(id).toEqual({
      ...{ iss: grid.url, sub: access.sub, aud: PORTAL, sid: expect.any(String) },
      ...{ iat: expect.any(Number), exp: expect.any(Number), auth_time: expect.any(Number) },
      ...{ acr: expect.any(String), at_hash: expect.any(String), jti: expect.any(String) },
      'wlcg.ver': '1.0',
      'wlcg.groups': ['/vo/grid_user', '/vo'],
    });
    expect(access['wlcg.groups']).toEqual(id['wlcg.groups']);
    expect(id.jti).not.toBe(access.jti);
  });
});

describe('what is not granted', () => {
  it('is left out of the answer’s scope, groups too', async () => {
    const groups = 'wlcg.groups:/vo/grid_share wlcg.groups:/vo/grid_adm';
    const { status, body } = await ask(grid, 'alice', { scope: `${groups} storage.modify:/` });
    expect([status, body.scope]).toEqual([200, 'wlcg.groups:/vo/grid_share']);
    expect(decodeJwt(body.access_token)).toMatchObject({
      scope: body.scope,
      'wlcg.groups': ['/vo/grid_share', '/vo/grid_user', '/vo'],
    });
  });

  it('is a set of capabilities, which nobody has here', async () => {
    const set = 'wlcg.capabilityset:/vo/grid_user';
    expect(told(await ask(grid, 'alice', { scope: set }))).toEqual([400, 'invalid_scope']);
    const { body } = await ask(grid, 'alice', { scope: `${set} jobs:read` });
    expect(body.scope).toBe('jobs:read');
    const { body: metadata } = await bearers.get('/.well-known/openid-configuration');
    expect(JSON.stringify(metadata.scopes_supported)).not.toContain('capabilityset');
  });
});

describe('what programs hold', () => {
  it('has 128 bits of chance and more', async () => {
    const made = await Promise.all([code(), code()]);
    const tokens = await Promise.all(made.map(({ exchange }) => exchanged(exchange)));
    const portal = await portalTokens(grid, 'alice');
    const secrets = [
      ...made.flatMap(({ uri, value }) => [uri, value]),
      ...tokens.flatMap(({ body }) => [body.refresh_token, claimsOf(body.access_token).jti]),
      ...[portal.refresh_token, claimsOf(portal.access_token).jti],
    ].map(String);
    for (const secret of secrets) expect(secret).toMatch(SECRET);
    expect(new Set(secrets.map((secret) => secret.slice(-22))).size).toBe(secrets.length);
  });
});

describe('a pushed request', () => {
  it('is what was pushed: parameters beside request_uri count for nothing (RFC 9126 §4, RFC 9101 §6.3)', async () => {
    const { challenge } = pkcePair();
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const asked = { response_type: 'code', redirect_uri: CALLBACK, scope: 'jobs:read', ...pkce };
    const form = { ...asked, state: 'pushed', ...(await assertion()) };
    const { body } = await bearers.post('/oauth2/par', { form });
    const beside = {
      ...{ response_type: 'token', redirect_uri: 'https://other.example/cb', state: 'beside' },
      ...{ scope: 'jobs:submit jobs:kill', code_challenge: 'x'.repeat(43), response_mode: 'query' },
    };
    const query = new URLSearchParams({
      ...{ client_id: 'fapi', request_uri: body.request_uri },
      ...beside,
    });
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`/oauth2/auth?${query.toString()}`);
    expect(page.status).toBe(200);
    const back = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    expect(back).toEqual({
      place: CALLBACK,
      parameters: { code: expect.any(String), state: 'pushed', iss: grid.url },
    });
    const latest = 'select scope from authorization_grant order by created_at desc limit 1';
    expect(await grid.sql(latest)).toEqual([{ scope: 'jobs:read' }]);
  });
});
