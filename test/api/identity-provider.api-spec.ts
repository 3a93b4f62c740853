import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { OAuth2IdProvider, type BrowserSession } from '#src/id-provider/library.js';
import { freePorts } from '../support/ports.mjs';
import { browse, CALLBACK, startIdProvider, type TestIdProvider } from '../support/id-provider.js';
import { createTestPki, type IssuedPair, type TestPki } from '../support/id-provider-pki.js';
import { formOf, formsOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { authorizePath, exchange, PORTAL } from '../support/portal.js';
import { AuditTrail } from '../support/audit-trail.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** Clients whose tokens are bound to their certificate (RFC 8705) or key (RFC 9449). */
const BOUND_CLIENTS = [
  {
    client_id: 'jwt-mtls',
    client_secret: 'secret-of-jwt-mtls',
    redirect_uris: [CALLBACK],
    tls_client_certificate_bound_access_tokens: true,
  },
  {
    client_id: 'jwt-dpop',
    client_secret: 'secret-of-jwt-dpop',
    redirect_uris: [CALLBACK],
    dpop_bound_access_tokens: true,
  },
];

describe('an external identity provider', () => {
  let pki: TestPki;
  let idp: TestIdProvider;
  let grid: Grid;
  let trail: AuditTrail;
  const file = join(tmpdir(), `gridgate-providers-${process.pid}.yaml`);

  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    const url = `https://localhost:${port}`;
    pki = await createTestPki();
    const redirectUris = [CALLBACK, `${url}/oauth2/callback/Institute`];
    idp = await startIdProvider(pki, { redirectUris, clients: BOUND_CLIENTS });
    const common = { issuer: idp.issuer, verify: pki.ca.certPath, trust_env: false };
    await writeFile(
      file,
      JSON.stringify({
        Institute: {
          ...common,
          title: 'My institute',
          client_id: 'conf',
          client_secret: 'secret of conf: 100% & more',
          scope: 'openid profile',
        },
        Tokens: {
          ...common,
          login: false,
          client_id: 'jwt-conf',
          client_secret: 'secret-of-jwt-conf',
          audience: 'https://grid.example/api',
          acceptTokens: true,
          exchangeTokens: true,
        },
        Away: { issuer: 'https://127.0.0.1:9', client_id: 'x', title: 'Not there' },
      }),
    );
    grid = await startGrid({
      env: { GRID_PORT: String(port), GRID_PUBLIC_URL: url, GRID_ID_PROVIDERS: file },
    });
    trail = new AuditTrail(grid);
    await grid.sql(`insert into registry_subject values ('${idp.issuer}', 'jane', 'alice', 0)`);
  });
  afterAll(async () => {
    await grid?.remove();
    await idp?.stop();
    await pki?.remove();
    await rm(file, { force: true });
  });

  /** Opens the portal's request, goes to the institute and comes back with what it sends. */
  async function signIn(visitor: PageVisitor, user: string) {
    const page = await visitor.open(authorizePath());
    const form = formsOf(page.body).find(({ action }) => action === '/oauth2/login/Institute');
    const toProvider = await visitor.send(form!);
    expect(toProvider.status).toBe(303);
    const { location } = await browse(pki.ca.certPath, String(toProvider.headers['location']), {
      user,
      redirectUri: `${grid.url}/oauth2/callback/`,
    });
    const back = new URL(location!);
    return `${back.pathname}${back.search}`;
  }

  /** An access token (JWT) of the provider for jane, as its own clients get them. */
  async function providerToken(
    scope: string,
    client_id = 'jwt-conf',
    binding: { cert?: [string, string]; dpop?: boolean } = {},
  ): Promise<string> {
    const client = new OAuth2IdProvider({
      ProviderName: 'client',
      issuer: idp.issuer,
      client_id,
      client_secret: `secret-of-${client_id}`,
      ...binding,
      redirect_uri: CALLBACK,
      scope,
      verify: pki.ca.certPath,
      trust_env: false,
    });
    const begun = await client.submitNewSession();
    if (!begun.OK) throw new Error(begun.Message);
    const state = new URL(begun.Value).searchParams.get('state')!;
    const { location } = await browse(pki.ca.certPath, begun.Value);
    const session: BrowserSession = { state };
    const done = await client.parseAuthResponse({ uri: location! }, session);
    if (!done.OK) throw new Error(done.Message);
    await client.close();
    return String(session.token?.access_token);
  }

  it('signs a user in and lets a portal act for her', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const callback = await signIn(visitor, 'jane');
    const before = visitor.cookie('__Host-gridgate');
    const back = await visitor.open(callback);
    expect([back.status, back.headers['location']]).toEqual([302, authorizePath()]);
    expect(visitor.cookie('__Host-gridgate')).not.toBe(before);
    const way = { way: 'provider', provider: 'Institute' };
    expect(await trail.lineOf(back, 'user.signed-in')).toEqual({
      ...{ outcome: 'done', user: 'alice', ...way },
    });
    const page = await visitor.open(authorizePath());
    expect(page.body).toContain('<b>alice</b>');
    const allowed = await visitor.send(formOf(page.body), { decision: 'allow' });
    const tokens = await exchange(grid, redirectOf(allowed).parameters['code']);
    expect(tokens.body).toMatchObject({ group: 'grid_user', setup: 'Prod' });
  });

  it('lets her sign out again', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    await visitor.open(await signIn(visitor, 'jane'));
    const page = await visitor.open('/oauth2/applications');
    const form = formsOf(page.body).find(({ action }) => action === '/oauth2/logout');
    expect((await visitor.send(form!)).body).toContain('Signed out');
    expect((await visitor.open('/oauth2/applications')).body).toContain('<h1>Sign in</h1>');
  });

  it('refuses somebody whom the registry does not know', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const answer = await visitor.open(await signIn(visitor, 'nobody'));
    expect(answer.status).toBe(403);
    expect(answer.body).toContain('You are not registered here');
    expect(await trail.lineOf(answer, 'user.signed-in')).toEqual({
      ...{ outcome: 'refused', code: 'auth.forbidden', subject: 'nobody' },
      ...{ way: 'provider', provider: 'Institute' },
    });
    expect((await visitor.open(authorizePath())).body).toContain('<h1>Sign in</h1>');
  });

  it('refuses a callback in another browser (login CSRF), and a second use', async () => {
    const attacker = new PageVisitor(grid.anonymous);
    const callback = await signIn(attacker, 'jane');
    const victim = new PageVisitor(grid.anonymous);
    await victim.open(authorizePath());
    expect((await victim.open(callback)).status).toBe(400);
    expect((await victim.open(authorizePath())).body).toContain('<h1>Sign in</h1>');
    expect((await attacker.open(callback)).status).toBe(400);
  });

  it('refuses a callback that names another provider or another issuer (mix-up)', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const callback = await signIn(visitor, 'jane');
    const elsewhere = callback.replace('/callback/Institute', '/callback/Away');
    expect((await visitor.open(elsewhere)).status).toBe(400);
    const other = new PageVisitor(grid.anonymous);
    const forged = (await signIn(other, 'jane')).replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil');
    expect((await other.open(forged)).status).toBe(400);
  });

  it('takes a refusal of the provider for the end of the login', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const callback = await signIn(visitor, 'jane');
    const refused = callback.replace(/code=[^&]*/, 'error=access_denied');
    const answer = await visitor.open(refused);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('<h1>Sign-in failed</h1>');
    expect(await trail.lineOf(answer, 'user.signed-in')).toEqual({
      ...{ outcome: 'refused', code: 'auth.forbidden' },
      ...{ way: 'provider', provider: 'Institute' },
    });
    expect((await visitor.open(callback)).status).toBe(400);
  });

  it('is asked for a fresh sign-in, and for whom, as the application asks here', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const asked = async (parameters: Record<string, string>): Promise<unknown[]> => {
      const page = await visitor.open(authorizePath(parameters));
      const form = formsOf(page.body).find(({ action }) => action === '/oauth2/login/Institute')!;
      const { headers } = await visitor.send(form);
      const sent = new URL(String(headers['location'])).searchParams;
      return [sent.get('prompt'), sent.get('login_hint')];
    };
    expect(await asked({})).toEqual([null, null]);
    expect(await asked({ prompt: 'login', login_hint: 'jane@institute.example' })).toEqual([
      'login',
      'jane@institute.example',
    ]);
    expect(await asked({ max_age: '60' })).toEqual(['login', null]);
    expect(await asked({ prompt: 'select_account' })).toEqual(['select_account', null]);
    expect(await asked({ prompt: 'consent' })).toEqual([null, null]);
  });

  it('goes back to own pages only', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const page = await visitor.open(authorizePath());
    const form = formsOf(page.body).find(({ action }) => action === '/oauth2/login/Institute')!;
    const toProvider = await visitor.send(form, { return: 'https://evil.example/' });
    const { location } = await browse(pki.ca.certPath, String(toProvider.headers['location']), {
      redirectUri: `${grid.url}/oauth2/callback/`,
    });
    const { pathname, search } = new URL(location!);
    const back = await visitor.open(`${pathname}${search}`);
    expect(back.headers['location']).toBe('/oauth2/applications');
  });

  it('stands by itself when another provider is away', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const page = await visitor.open(authorizePath());
    expect(page.body).toContain('My institute');
    const form = formsOf(page.body).find(({ action }) => action === '/oauth2/login/Away')!;
    const answer = await visitor.send(form);
    expect(answer.status).toBe(503);
    expect(answer.body).toContain('cannot be reached now');
  });

  it("accepts the provider's token where its entry says so, with the choice of group", async () => {
    const token = await providerToken('openid jobs:read jobs:submit');
    const ask = (headers: Record<string, string>) =>
      grid.bearer(token).get('/jobs', { query: { maxJobs: 1 }, headers });
    expect((await ask({})).status).toBe(200);
    expect((await ask({ 'x-grid-group': 'grid_share', 'x-grid-setup': 'Test' })).status).toBe(200);
    expect((await ask({ 'x-grid-group': 'grid_adm' })).status).toBe(403);
    expect((await ask({ 'x-grid-setup': 'Other' })).status).toBe(403);
    const changed = `${token.slice(0, -6)}AAAAAA`;
    expect((await grid.bearer(changed).get('/jobs')).status).toBe(401);
  });

  it("takes a provider's token that is bound to a certificate from its holder only (RFC 8705)", async () => {
    const holder = await pki.client('jane-agent');
    const token = await providerToken('openid jobs:read', 'jwt-mtls', {
      cert: [holder.certPath, holder.keyPath],
    });
    const ask = async (pair?: IssuedPair) => {
      const caller = pair ? await grid.certificate(pair) : grid.anonymous;
      const headers = { authorization: `Bearer ${token}` };
      const { status, body } = await caller.get('/jobs', { query: { maxJobs: 1 }, headers });
      return [status, body.code];
    };
    expect(await ask(holder)).toEqual([200, undefined]);
    expect(await ask()).toEqual([401, 'auth.token-invalid']);
    expect(await ask(await pki.client('thief'))).toEqual([401, 'auth.token-invalid']);
    expect(await ask(holder)).toEqual([200, undefined]);
    const form = {
      ...{ grant_type: EXCHANGE, subject_token: token, subject_token_type: ACCESS_TOKEN },
      ...{ client_id: PORTAL, group: 'grid_user', setup: 'Prod' },
    };
    const exchanged = async (caller: GridClient) =>
      (await caller.post('/oauth2/token', { form })).status;
    expect(await exchanged(grid.anonymous)).toBe(400);
    expect(await exchanged(await grid.certificate(holder))).toBe(200);
  });

  it("does not take a provider's DPoP token as a bearer token (RFC 9449 §7.2)", async () => {
    const token = await providerToken('openid jobs:read', 'jwt-dpop', { dpop: true });
    const { status, body } = await grid.bearer(token).get('/jobs');
    expect([status, body.code]).toEqual([401, 'auth.token-invalid']);
  });

  it("exchanges the provider's token for one of ours (RFC 8693)", async () => {
    const subjectToken = await providerToken('openid jobs:read');
    const form = {
      grant_type: EXCHANGE,
      subject_token: subjectToken,
      subject_token_type: ACCESS_TOKEN,
      client_id: PORTAL,
      group: 'grid_share',
      setup: 'Test',
      scope: 'jobs:read',
    };
    const answer = await grid.anonymous.post('/oauth2/token', { form });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token: answer.body.access_token,
        token_type: 'Bearer',
        expires_in: 21600,
        scope: 'jobs:read',
        group: 'grid_share',
        setup: 'Test',
        refresh_token: expect.any(String),
        issued_token_type: ACCESS_TOKEN,
      },
    ]);
    expect(await trail.lineOf(answer, 'token.issued')).toEqual({
      ...{ outcome: 'done', user: 'alice', group: 'grid_share', setup: 'Test', client: PORTAL },
      ...{ grantType: EXCHANGE, tokenId: decodeJwt(answer.body.access_token).jti },
      scope: 'jobs:read',
    });
    const refuse = async (change: Record<string, string>) => {
      const { status, body } = await grid.anonymous.post('/oauth2/token', {
        form: { ...form, ...change },
      });
      return [status, body.error];
    };
    expect(await refuse({ subject_token: `${subjectToken}x` })).toEqual([400, 'invalid_request']);
    const own = await grid.anonymous.post('/oauth2/token', {
      form: { ...form, subject_token: answer.body.access_token },
    });
    expect([own.status, own.body.refresh_token]).toEqual([200, undefined]);
    expect(await refuse({ subject_token_type: 'urn:x' })).toEqual([400, 'invalid_request']);
    expect(await refuse({ actor_token: 'x' })).toEqual([400, 'invalid_request']);
    expect(await refuse({ audience: 'https://elsewhere' })).toEqual([400, 'invalid_target']);
    expect(await refuse({ group: 'grid_adm' })).toEqual([403, 'access_denied']);
    expect(await refuse({ client_id: 'nobody' })).toEqual([401, 'invalid_client']);
  });
});
