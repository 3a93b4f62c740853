import { formOf, formsOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { authorizePath, CALLBACK } from '../support/portal.js';
import { startGrid, type Grid, type Identity } from '../support/testbed.js';

describe('GET /oauth2/auth', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  const visitor = async (name: Identity): Promise<PageVisitor> =>
    new PageVisitor(await grid.certificate(name));

  it.each([
    ['an unknown application', { client_id: 'nobody' }],
    ['no application', { client_id: undefined }],
    ['another host', { redirect_uri: 'https://evil.example/callback' }],
    ['another path', { redirect_uri: `${CALLBACK}/more` }],
    ['a query more', { redirect_uri: `${CALLBACK}?a=b` }],
    ['a user part', { redirect_uri: 'http://localhost:8900@evil.example/callback' }],
    ['another case', { redirect_uri: 'http://LOCALHOST:8900/callback' }],
    ['a fragment', { redirect_uri: `${CALLBACK}#x` }],
    ['another loopback name', { redirect_uri: 'http://127.0.0.1:8900/callback' }],
    ['https', { redirect_uri: 'https://localhost:8900/callback' }],
  ])('never redirects with %s', async (_what, parameters) => {
    const answer = await (await visitor('alice')).open(authorizePath(parameters));
    expect(answer.status).toBe(400);
    expect(answer.headers['location']).toBeUndefined();
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).toContain('This request cannot be trusted');
  });

  it('compares loopback redirect URIs of public applications without the port (RFC 8252)', async () => {
    const path = authorizePath({ redirect_uri: 'http://localhost:51234/callback' });
    expect((await (await visitor('alice')).open(path)).status).toBe(200);
  });

  it.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['invalid_request', { response_type: undefined }],
    ['invalid_request', { code_challenge: 'A'.repeat(43) }],
    ['invalid_request', { code_challenge: 'A'.repeat(43), code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge: 'short', code_challenge_method: 'S256' }],
    ['invalid_request', { code_challenge_method: 'S256' }],
    ['invalid_request', { response_mode: 'fragment' }],
    ['invalid_scope', { scope: 'read everything' }],
  ])('redirects with %s for %j', async (error, parameters) => {
    const answer = await (await visitor('alice')).open(authorizePath(parameters));
    expect(answer.status).toBe(302);
    const { place, parameters: back } = redirectOf(answer);
    expect(place).toBe(CALLBACK);
    expect(back).toEqual({
      error,
      error_description: expect.any(String),
      state: 'xyz',
      iss: grid.url,
    });
  });

  it('gives an empty state back as it was sent', async () => {
    const path = authorizePath({ state: '', response_type: 'nonsense' });
    const { status, headers } = await (await visitor('alice')).open(path);
    const sent = new URL(String(headers['location'])).searchParams;
    expect([status, sent.get('error'), sent.get('state')]).toEqual([
      302,
      'unsupported_response_type',
      '',
    ]);
  });

  it('redirects with invalid_request for a repeated parameter', async () => {
    const answer = await (await visitor('alice')).open(`${authorizePath()}&state=abc`);
    const { parameters } = redirectOf(answer);
    expect(parameters).toEqual({
      error: 'invalid_request',
      error_description: 'state is given more than once',
      iss: grid.url,
    });
  });

  it('shows the sign-in page without certificate, and says when one is refused', async () => {
    const anonymous = await new PageVisitor(grid.anonymous).open(authorizePath());
    expect(anonymous.status).toBe(200);
    expect(anonymous.body).toContain('<h1>Sign in</h1>');
    expect(anonymous.body).not.toContain('is not accepted here');
    const stranger = await (await visitor('stranger')).open(authorizePath());
    expect(stranger.status).toBe(401);
    expect(stranger.body).toContain('is not accepted here');
  });

  it('cannot be framed, scripted, cached or made to leak its address', async () => {
    const { headers, body } = await (await visitor('alice')).open(authorizePath());
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self' http://localhost:8900");
    expect(policy).not.toContain('script');
    expect(policy).not.toContain('unsafe');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(body).not.toMatch(/<script|javascript:| on\w+=/i);
  });

  it('keeps the session in a cookie that only this host, TLS and HTTP see', async () => {
    const { headers } = await (await visitor('alice')).open(authorizePath());
    expect(String(headers['set-cookie'])).toMatch(
      /^__Host-gridgate=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=28800$/,
    );
  });

  it('puts nothing of the request into the page as markup', async () => {
    const evil = '"><script>alert(1)</script>';
    const path = authorizePath({ state: evil, scope: `jobs:read ${evil}` });
    const { body } = await (await visitor('alice')).open(path);
    expect(body).not.toContain('<script');
    expect(formOf(body).action).toBe(path);
  });

  it('offers only groups that allow something of what is asked', async () => {
    const page = await (await visitor('adam')).open(authorizePath({ scope: 'jobs:kill' }));
    expect(page.body).toContain('value="grid_adm"');
    const nothing = await (await visitor('mona')).open(authorizePath({ scope: 'jobs:kill' }));
    expect(redirectOf(nothing).parameters['error']).toBe('invalid_scope');
  });

  it('takes a request as a form as well (OpenID Connect Core §3.1.2.1)', async () => {
    const { anonymous } = grid;
    const path = authorizePath({ scope: 'jobs:read', state: 'ä &=' });
    const form = [...new URL(path, grid.url).searchParams] as [string, string][];
    const answer = await anonymous.post('/oauth2/auth', { form });
    expect([answer.status, answer.bytes.length]).toEqual([303, 0]);
    const location = new URL(String(answer.headers['location']), grid.url);
    expect(location.pathname).toBe('/oauth2/auth');
    expect([...location.searchParams]).toEqual(form);
    expect((await (await visitor('alice')).open(location.pathname + location.search)).status).toBe(
      200,
    );
    const long = await anonymous.post('/oauth2/auth', { form: [['state', 'x'.repeat(9_000)]] });
    expect(long.status).toBe(413);
    const json = await anonymous.post('/oauth2/auth', { json: { client_id: 'demo-portal' } });
    expect(json.status).toBe(415);
    const nobody = await anonymous.post('/oauth2/auth', { form: [['client_id', 'nobody']] });
    expect((await anonymous.get(String(nobody.headers['location']))).status).toBe(400);
  });

  describe('the consent form', () => {
    it.each([
      ['no token', { csrf: null }],
      ['a wrong token', { csrf: 'A'.repeat(43) }],
    ])('is refused with %s (CSRF)', async (_what, values) => {
      const alice = await visitor('alice');
      const page = await alice.open(authorizePath());
      const answer = await alice.send(formOf(page.body), { ...values, decision: 'allow' });
      expect(answer.status).toBe(403);
      expect(answer.headers['location']).toBeUndefined();
    });

    it("is refused with the token of another browser's session", async () => {
      const mallory = await visitor('bob');
      const stolen = formOf((await mallory.open(authorizePath())).body);
      const alice = await visitor('alice');
      await alice.open(authorizePath());
      const answer = await alice.send(stolen, { decision: 'allow' });
      expect(answer.status).toBe(403);
    });

    it('is refused without the cookie, and when somebody else has signed in', async () => {
      const alice = await visitor('alice');
      const form = formOf((await alice.open(authorizePath())).body);
      const cookie = alice.cookie('__Host-gridgate')!;
      const cookieless = await (await visitor('alice')).send(form, { decision: 'allow' });
      expect(cookieless.status).toBe(403);
      const bob = await visitor('bob');
      bob.setCookie('__Host-gridgate', cookie);
      expect((await bob.send(form, { decision: 'allow' })).status).toBe(403);
    });

    it.each([
      [{ group: 'grid_mon', setup: 'Prod' }],
      [{ group: 'nonsense', setup: 'Prod' }],
      [{ group: 'grid_user', setup: 'Other' }],
      [{ group: 'grid_user', setup: null }],
      [{ group: 'grid_user', setup: 'Prod', decision: 'perhaps' }],
    ])('asks again for %j', async (values) => {
      const alice = await visitor('alice');
      const page = await alice.open(authorizePath());
      const answer = await alice.send(formOf(page.body), { decision: 'allow', ...values });
      expect(answer.status).toBe(400);
      expect(answer.body).toContain('role="alert"');
      expect(formsOf(answer.body)).toHaveLength(1);
    });

    it('gives each sign-in a new session (no fixation)', async () => {
      const alice = await visitor('alice');
      const fixed = new PageVisitor(grid.anonymous);
      await fixed.open(authorizePath());
      const planted = fixed.cookie('__Host-gridgate')!;
      alice.setCookie('__Host-gridgate', planted);
      await alice.open(authorizePath());
      expect(alice.cookie('__Host-gridgate')).not.toBe(planted);
      const page = await fixed.open(authorizePath());
      expect(page.body).toContain('<h1>Sign in</h1>');
    });
  });
});
