import { decodeJwt } from 'jose';
import {
  addApplication,
  assertionOf,
  DpopCaller,
  makeKey,
  type TestKey,
} from '../support/applications.js';
import { formOf, PageVisitor, pkcePair, redirectOf } from '../support/page-visitor.js';
import { authorizePath, PORTAL } from '../support/portal.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const CALLBACK = 'https://app.example/cb';

let grid: Grid;
let key: TestKey;
let bearers: GridClient;

beforeAll(async () => {
  [grid, key] = await Promise.all([startGrid(), makeKey()]);
  bearers = grid.anonymous;
  const byKey = { authentication: 'private_key_jwt', jwks: { keys: [key.jwk] } };
  await addApplication(grid, { id: 'fapi', ...byKey, profile: 'fapi2' });
  await addApplication(grid, { id: 'fapi-other', ...byKey, profile: 'fapi2' });
  await addApplication(grid, {
    ...{ id: 'strict', profile: 'oauth2.1' },
    redirectUris: [CALLBACK, 'http://localhost:8900/callback'],
  });
});
afterAll(async () => grid?.remove());

const assertion = (id: string) => assertionOf(id, key, { aud: grid.url });
const answerOf = ({ status, body }: { status: number; body: any }): unknown => [
  status,
  { error: body.error, error_description: body.error_description },
];

describe('POST /oauth2/par', () => {
  const asked = () => {
    const { challenge, verifier } = pkcePair();
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    return {
      verifier,
      form: { response_type: 'code', redirect_uri: CALLBACK, scope: 'jobs:read', ...pkce },
    };
  };
  const push = async (form: Record<string, string>, id = 'fapi') =>
    bearers.post('/oauth2/par', { form: { ...form, ...(await assertion(id)) } });
  const visit = async (uri: string, id = 'fapi') => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const query = new URLSearchParams({ client_id: id, request_uri: uri });
    return { visitor, page: await visitor.open(`/oauth2/auth?${query.toString()}`) };
  };

  it('keeps a request for one decision of a user; the code gives bound tokens that do not rotate', async () => {
    const { form, verifier } = asked();
    const pushed = await push({ ...form, state: 'kept' });
    expect([pushed.status, pushed.body]).toEqual([
      201,
      {
        request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/),
        expires_in: 90,
      },
    ]);
    const { visitor, page } = await visit(pushed.body.request_uri);
    expect(page.status).toBe(200);
    const back = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    expect(back).toEqual({
      place: CALLBACK,
      parameters: { code: expect.any(String), state: 'kept', iss: grid.url },
    });
    const exchange = {
      ...{ grant_type: 'authorization_code', code: back.parameters['code'] ?? '' },
      ...{ redirect_uri: CALLBACK, code_verifier: verifier },
    };
    const unbound = { ...exchange, ...(await assertion('fapi')) };
    expect(answerOf(await bearers.post('/oauth2/token', { form: unbound }))).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description:
          'Tokens of this application are bound: send a DPoP proof or a client certificate',
      },
    ]);
    const caller = new DpopCaller(bearers, await makeKey());
    caller.nonce = 'stale';
    const stale = await bearers.post('/oauth2/token', {
      form: { ...exchange, ...(await assertion('fapi')) },
      headers: { dpop: await caller.proof('POST', '/oauth2/token') },
    });
    expect(answerOf(stale)).toEqual([
      400,
      {
        error: 'use_dpop_nonce',
        error_description: 'The DPoP proof needs the nonce of the DPoP-Nonce header',
      },
    ]);
    caller.nonce = String(stale.headers['dpop-nonce']);
    const tokens = await caller.call('POST', '/oauth2/token', {
      form: { ...exchange, ...(await assertion('fapi')) },
    });
    expect([tokens.status, tokens.body.token_type]).toEqual([200, 'DPoP']);
    const renewal = {
      grant_type: 'refresh_token',
      refresh_token: tokens.body.refresh_token as string,
    };
    for (let round = 0; round < 2; round += 1) {
      const renewed = await caller.call('POST', '/oauth2/token', {
        form: { ...renewal, ...(await assertion('fapi')) },
      });
      expect([renewed.status, renewed.body.refresh_token]).toEqual([200, renewal.refresh_token]);
    }
    const late = await visit(pushed.body.request_uri);
    expect([late.page.status, late.page.headers['location']]).toEqual([400, undefined]);
    expect(late.page.body).toContain('request_uri is unknown, used or too old.');
  });

  it('keeps what is asked of the sign-in, and for which services', async () => {
    const { form, verifier } = asked();
    const scope = 'openid jobs:read';
    const silent = await push({ ...form, scope, prompt: 'none', state: 'quiet' });
    const { page: refused } = await visit(silent.body.request_uri);
    expect(redirectOf(refused).parameters).toMatchObject({
      error: 'consent_required',
      state: 'quiet',
    });
    const more = { nonce: 'n-1', max_age: '1000', resource: grid.url };
    const pushed = await push({ ...form, ...more, scope });
    const { visitor, page } = await visit(pushed.body.request_uri);
    const back = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    const caller = new DpopCaller(bearers, await makeKey());
    const tokens = await caller.call('POST', '/oauth2/token', {
      form: {
        ...{ grant_type: 'authorization_code', code: back.parameters['code'] ?? '' },
        ...{ redirect_uri: CALLBACK, code_verifier: verifier },
        ...(await assertion('fapi')),
      },
    });
    expect(decodeJwt(tokens.body.id_token)).toMatchObject({ aud: 'fapi', nonce: 'n-1' });
    expect(decodeJwt(tokens.body.access_token).aud).toBe(grid.url);
    const { sub } = decodeJwt(tokens.body.id_token);
    const token = tokens.body.access_token as string;
    const about = await caller.call('GET', '/oauth2/userinfo', { token });
    expect([about.status, about.body]).toEqual([200, { sub }]);
  });

  it('is of one application, and ends', async () => {
    const { body } = await push(asked().form);
    expect((await visit(body.request_uri, 'fapi-other')).page.status).toBe(400);
    expect((await visit(`${body.request_uri}x`)).page.status).toBe(400);
    await grid.sql('update pushed_request set expires_at = now()');
    expect((await visit(body.request_uri)).page.status).toBe(400);
  });

  it('is used up when the user refuses', async () => {
    const { body } = await push(asked().form);
    const { visitor, page } = await visit(body.request_uri);
    const back = redirectOf(await visitor.send(formOf(page.body), { decision: 'deny' }));
    expect(back.parameters['error']).toBe('access_denied');
    expect((await visit(body.request_uri)).page.status).toBe(400);
  });

  it.each<[string, Record<string, string | undefined>, string, string]>([
    [
      'without challenge',
      { code_challenge: undefined, code_challenge_method: undefined },
      'invalid_request',
      'code_challenge is required (S256)',
    ],
    [
      'with a plain challenge',
      { code_challenge_method: 'plain' },
      'invalid_request',
      'code_challenge_method must be S256',
    ],
    [
      'without redirect URI',
      { redirect_uri: undefined },
      'invalid_request',
      'The parameter redirect_uri is missing',
    ],
    [
      'with a foreign redirect URI',
      { redirect_uri: 'https://evil.example/' },
      'invalid_request',
      'redirect_uri is not registered for this application.',
    ],
    [
      'with another response type',
      { response_type: 'token' },
      'unsupported_response_type',
      'response_type must be code',
    ],
    ['with unknown scopes', { scope: 'nonsense' }, 'invalid_scope', 'none of the scopes is known'],
    [
      'with a request_uri',
      { request_uri: 'urn:x' },
      'invalid_request',
      'request_uri is not supported here',
    ],
    [
      'with a request object',
      { request: 'e30' },
      'request_not_supported',
      'request is not supported',
    ],
    [
      'with a key that is none',
      { dpop_jkt: 'x' },
      'invalid_request',
      'dpop_jkt is no SHA-256 thumbprint',
    ],
  ])('is refused %s', async (_what, change, error, text) => {
    const form = Object.fromEntries(
      Object.entries({ ...asked().form, ...change }).filter(
        (pair): pair is [string, string] => pair[1] !== undefined,
      ),
    );
    expect(answerOf(await push(form))).toEqual([400, { error, error_description: text }]);
  });

  it('is refused to who does not prove to be the application', async () => {
    const answer = await bearers.post('/oauth2/par', {
      form: { ...asked().form, client_id: 'fapi' },
    });
    expect(answerOf(answer)).toEqual([
      401,
      {
        error: 'invalid_client',
        error_description: 'The application is unknown or did not prove itself',
      },
    ]);
  });

  it('binds the code to the key of its proof', async () => {
    const { form, verifier } = asked();
    const [caller, thief] = [
      new DpopCaller(bearers, await makeKey()),
      new DpopCaller(bearers, await makeKey()),
    ];
    const pushed = await caller.call('POST', '/oauth2/par', {
      form: { ...form, ...(await assertion('fapi')) },
    });
    expect(pushed.status).toBe(201);
    const { visitor, page } = await visit(pushed.body.request_uri);
    const back = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    const exchange = {
      ...{ grant_type: 'authorization_code', code: back.parameters['code'] ?? '' },
      ...{ redirect_uri: CALLBACK, code_verifier: verifier },
    };
    const stolen = await thief.call('POST', '/oauth2/token', {
      form: { ...exchange, ...(await assertion('fapi')) },
    });
    expect(answerOf(stolen)).toEqual([
      400,
      {
        error: 'invalid_grant',
        error_description: 'The code is unknown, expired, used or not yours',
      },
    ]);
    const tokens = await caller.call('POST', '/oauth2/token', {
      form: { ...exchange, ...(await assertion('fapi')) },
    });
    expect(tokens.status).toBe(200);
  });

  it('is the only way with fapi2', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const answer = await visitor.open(
      authorizePath({ client_id: 'fapi', ...asked().form, state: undefined }),
    );
    expect(redirectOf(answer).parameters).toEqual({
      error: 'invalid_request',
      error_description: 'the request must be pushed (/oauth2/par)',
      iss: grid.url,
    });
  });
});

describe('a token that is bound to a DPoP key', () => {
  let caller: DpopCaller;
  let token: string;
  beforeAll(async () => {
    caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const path = `/oauth2/token?${new URLSearchParams(query).toString()}`;
    const answer = await caller.call('GET', path);
    expect([answer.status, answer.body.token_type]).toEqual([200, 'DPoP']);
    token = answer.body.access_token as string;
  });

  it('is good with a proof for each request', async () => {
    const path = '/jobs?maxJobs=1';
    const answer = await caller.call('GET', path, { token });
    expect([answer.status, answer.headers['dpop-nonce']]).toEqual([200, caller.nonce]);
    const dpop = await caller.proof('GET', path, token);
    const headers = { authorization: `DPoP ${token}`, dpop };
    expect((await bearers.get(path, { headers })).status).toBe(200);
    const again = await bearers.get(path, { headers });
    expect([again.status, again.body.detail]).toEqual([401, 'The DPoP proof has been used before']);
    const thief = new DpopCaller(bearers, await makeKey());
    thief.nonce = caller.nonce;
    const stolen = await thief.call('GET', path, { token });
    expect([stolen.status, stolen.body.detail]).toEqual([
      401,
      'The access token is bound to another DPoP key',
    ]);
  });

  it('is worth nothing as bearer token on any route that takes a token', async () => {
    const { body: document } = await bearers.get('/docs/openapi.json');
    const routes = Object.entries(document.paths as Record<string, Record<string, any>>).flatMap(
      ([path, operations]) =>
        Object.entries(operations)
          .filter(([, { security }]) => JSON.stringify(security ?? []).includes('bearer'))
          .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{[^}]+\}/g, '1')] as const),
    );
    expect(routes.length).toBeGreaterThan(30);
    for (const [method, path] of routes) {
      const header = await bearers.call(method, path, {
        headers: { authorization: `Bearer ${token}` },
      });
      const query = await bearers.call(method, path, { query: { access_token: token } });
      const bare = await bearers.call(method, path, {
        headers: { authorization: `DPoP ${token}` },
      });
      const challenge = expect.stringMatching(/^DPoP .*algs="ES256 /);
      expect([method, path, ...[header, query, bare].map(({ status }) => status)]).toEqual([
        ...[method, path, 401, 401, 401],
      ]);
      for (const { headers, body } of [header, query, bare]) {
        expect(headers['www-authenticate']).toEqual(challenge);
        const error = / error="(\w+)"/.exec(String(headers['www-authenticate']))?.[1];
        expect(body.error).toBe(path.startsWith('/oauth2/') ? error : undefined);
      }
    }
  });

  it('is not what an unbound one may be called', async () => {
    const plain = await grid.token('alice', 'grid_user');
    const answer = await caller.call('GET', '/jobs', { token: plain });
    expect([answer.status, answer.body.detail]).toEqual([
      401,
      'The access token is not bound to a DPoP key',
    ]);
  });

  it('binds the refresh tokens of a public application', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(authorizePath());
    const { parameters } = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    const exchange = {
      ...{ grant_type: 'authorization_code', code: parameters['code'] ?? '', client_id: PORTAL },
      redirect_uri: 'http://localhost:8900/callback',
    };
    const tokens = await caller.call('POST', '/oauth2/token', { form: exchange });
    const form = {
      ...{ grant_type: 'refresh_token', client_id: PORTAL },
      refresh_token: tokens.body.refresh_token as string,
    };
    const refusal = {
      error: 'invalid_grant',
      error_description: 'The refresh token is unknown, expired, used or not yours',
    };
    expect(answerOf(await bearers.post('/oauth2/token', { form }))).toEqual([400, refusal]);
    const thief = new DpopCaller(bearers, await makeKey());
    expect(answerOf(await thief.call('POST', '/oauth2/token', { form }))).toEqual([400, refusal]);
    expect((await caller.call('POST', '/oauth2/token', { form })).status).toBe(200);
  });
});

describe('the profile oauth2.1', () => {
  const open = async (change: Record<string, string | undefined>) => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const parameters = { client_id: 'strict', redirect_uri: CALLBACK, ...change };
    return { visitor, page: await visitor.open(authorizePath(parameters)) };
  };

  it('demands PKCE', async () => {
    expect(redirectOf((await open({})).page).parameters).toEqual({
      error: 'invalid_request',
      error_description: 'code_challenge is required (S256)',
      state: 'xyz',
      iss: grid.url,
    });
  });

  it('compares redirect URIs to the last character', async () => {
    const { page } = await open({ redirect_uri: 'http://localhost:9/callback' });
    expect([page.status, page.headers['location']]).toEqual([400, undefined]);
  });

  it('takes its tokens in the header and its parameters by POST only', async () => {
    const { verifier, challenge } = pkcePair();
    const { visitor, page } = await open({
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const { parameters } = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    const exchange = {
      ...{ grant_type: 'authorization_code', code: parameters['code'] ?? '' },
      ...{ client_id: 'strict', redirect_uri: CALLBACK, code_verifier: verifier },
    };
    const text = 'Send the parameters of this application by POST, in the form alone';
    const refusal = [400, { error: 'invalid_request', error_description: text }];
    expect(answerOf(await bearers.get('/oauth2/token', { query: exchange }))).toEqual(refusal);
    const { code, ...rest } = exchange;
    for (const options of [{ query: exchange }, { query: { code }, form: rest }]) {
      expect(answerOf(await bearers.post('/oauth2/token', options))).toEqual(refusal);
    }
    const { body } = await bearers.post('/oauth2/token', { form: exchange });
    const query = { access_token: body.access_token as string };
    const answer = await bearers.get('/jobs', { query });
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      401,
      'auth.token-missing',
      'Tokens of this application are not taken from the query string; send the header',
    ]);
    expect((await grid.bearer(body.access_token).get('/jobs')).status).toBe(200);
  });
});
