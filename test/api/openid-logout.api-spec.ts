import { openidTokens, type OpenidAnswer } from '../support/openid.js';
import { formOf, formsOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { authorizePath, exchange, PORTAL } from '../support/portal.js';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

const FORM = { action: '/oauth2/logout', method: 'post', fields: [] };
const AFTER = 'https://portal.example/signed-out';

describe('GET and POST /oauth2/logout', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
    await grid.sql(
      `update registry_application set post_logout_redirect_uris = '{${AFTER},http://127.0.0.1/out?a=b}'
       where id = $1`,
      [PORTAL],
    );
  });
  afterAll(async () => grid?.remove());

  const logoutPath = (parameters: Record<string, string>): string =>
    `/oauth2/logout?${new URLSearchParams(parameters).toString()}`;
  const sessions = async (): Promise<number> => {
    const text = "select count(*)::int as n from browser_session where user_name = 'alice'";
    return (await grid.sql<{ n: number }>(text))[0]!.n;
  };
  /** A browser in which alice has signed in, and an ID token of that session. */
  async function signedIn(): Promise<{ browser: PageVisitor; hint: string }> {
    const browser = new PageVisitor(await grid.certificate('alice'));
    const page = await browser.open(authorizePath({ scope: 'openid' }));
    const back = await browser.send(formOf(page.body), { decision: 'allow' });
    const { code } = redirectOf(back).parameters;
    const { body } = (await exchange(grid, code)) as Answer<OpenidAnswer>;
    return { browser, hint: body.id_token };
  }

  it('ends the session of the ID token at once, and goes on where the application wants', async () => {
    const { browser, hint } = await signedIn();
    const before = await sessions();
    const parameters = { id_token_hint: hint, post_logout_redirect_uri: AFTER, state: 'a&b' };
    const left = await browser.open(logoutPath(parameters));
    expect([left.status, left.headers['location']]).toEqual([302, `${AFTER}?state=a%26b`]);
    expect(String(left.headers['set-cookie'])).toMatch(/^__Host-gridgate=;.*Max-Age=0/);
    expect(await sessions()).toBe(before - 1);
  });

  it('takes the same as a form of the application', async () => {
    const { browser, hint } = await signedIn();
    const fields = { id_token_hint: hint, client_id: PORTAL, post_logout_redirect_uri: AFTER };
    const left = await browser.send(FORM, fields);
    expect([left.status, left.headers['location']]).toEqual([303, AFTER]);
  });

  it('has the browser bring the form of another site again as an address, with its cookies', async () => {
    const { browser, hint } = await signedIn();
    const before = await sessions();
    const fields = { id_token_hint: hint, post_logout_redirect_uri: AFTER, state: 'a&b' };
    const sent = await new PageVisitor(await grid.certificate('alice')).send(FORM, fields);
    expect([sent.status, sent.headers['location'], await sessions()]).toEqual([
      303,
      logoutPath(fields),
      before,
    ]);
    const left = await browser.open(String(sent.headers['location']));
    expect([left.status, left.headers['location'], await sessions()]).toEqual([
      302,
      `${AFTER}?state=a%26b`,
      before - 1,
    ]);
  });

  it.each([
    ['without ID token', () => Promise.resolve({})],
    ['with one of another session', async () => ({ id_token_hint: (await signedIn()).hint })],
    ['with one that is none', () => Promise.resolve({ id_token_hint: 'nonsense' })],
    [
      'with an access token',
      async () => {
        const { body } = await openidTokens(grid, 'alice', { scope: 'openid' });
        return { id_token_hint: body.access_token };
      },
    ],
  ])('asks the user %s, and goes on when they confirm', async (_what, make) => {
    const { browser } = await signedIn();
    const before = await sessions();
    const parameters = {
      client_id: PORTAL,
      post_logout_redirect_uri: AFTER,
      state: 's',
      ...(await make()),
    };
    const extra = await sessions();
    const page = await browser.open(logoutPath(parameters));
    expect([page.status, page.headers['location']]).toEqual([200, undefined]);
    expect(page.body).toContain('<h1>Sign out?</h1>');
    expect(String(page.headers['content-security-policy'])).toContain(
      "form-action 'self' https://portal.example",
    );
    expect(await sessions()).toBe(extra);
    expect(extra).toBeGreaterThanOrEqual(before);
    const form = formsOf(page.body)[0]!;
    const forged = await browser.send(form, { csrf: 'A'.repeat(43) });
    expect([forged.status, await sessions()]).toEqual([403, extra]);
    const left = await browser.send(form);
    expect([left.status, left.headers['location']]).toEqual([303, `${AFTER}?state=s`]);
    expect(await sessions()).toBe(extra - 1);
  });

  it('goes on at once when nobody is signed in', async () => {
    const browser = new PageVisitor(grid.anonymous);
    const parameters = { client_id: PORTAL, post_logout_redirect_uri: AFTER };
    const left = await browser.open(logoutPath(parameters));
    expect([left.status, left.headers['location']]).toEqual([302, AFTER]);
    const page = await browser.open('/oauth2/logout');
    expect([page.status, page.body.includes('Signed out')]).toEqual([200, true]);
  });

  it.each([
    ['another address', { client_id: PORTAL, post_logout_redirect_uri: `${AFTER}/more` }],
    [
      'a redirect URI',
      { client_id: PORTAL, post_logout_redirect_uri: 'http://localhost:8900/callback' },
    ],
    ['an unknown application', { client_id: 'nobody', post_logout_redirect_uri: AFTER }],
    ['no application', { post_logout_redirect_uri: AFTER }],
    ['an application without any', { client_id: 'swagger-ui', post_logout_redirect_uri: AFTER }],
  ])('leads nowhere with %s, and signs nobody out', async (_what, parameters) => {
    const { browser } = await signedIn();
    const before = await sessions();
    const answer = await browser.open(logoutPath(parameters));
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
    expect(answer.body).toContain('This request cannot be trusted');
    expect(await sessions()).toBe(before);
  });

  it('leads nowhere when ID token and client_id differ, although both are good', async () => {
    const { browser, hint } = await signedIn();
    const before = await sessions();
    const answer = await browser.open(logoutPath({ id_token_hint: hint, client_id: 'portal' }));
    expect([answer.status, await sessions()]).toEqual([400, before]);
  });

  it('compares loopback addresses of public applications without the port (RFC 8252)', async () => {
    const parameters = {
      client_id: PORTAL,
      post_logout_redirect_uri: 'http://127.0.0.1:5151/out?a=b',
    };
    const left = await new PageVisitor(grid.anonymous).open(
      logoutPath({ ...parameters, state: '1' }),
    );
    expect(left.headers['location']).toBe('http://127.0.0.1:5151/out?a=b&state=1');
  });

  it('refuses parameters that are given twice', async () => {
    const answer = await new PageVisitor(grid.anonymous).open('/oauth2/logout?state=a&state=b');
    expect([answer.status, answer.headers['location']]).toEqual([400, undefined]);
  });

  describe('in a browser that goes on showing its certificate', () => {
    const WEB = 'https://web.example/callback';
    const webPath = (parameters: Record<string, string> = {}): string =>
      authorizePath({ client_id: 'web', redirect_uri: WEB, scope: 'jobs:read', ...parameters });
    const silent = webPath({ prompt: 'none' });
    const errorOf = (answer: Answer): unknown => [
      answer.status,
      redirectOf(answer).parameters['error'],
    ];
    const loginRequired = [302, 'login_required'];

    beforeAll(async () => {
      await grid.sql(
        `insert into registry_application (id, position, name, redirect_uris, confidential, origin)
         values ('web', 9, 'Web', '{${WEB}}', false, 'command')`,
      );
    });

    /** A browser of alice that is answered silently, and what it has allowed. */
    async function known(): Promise<PageVisitor> {
      const browser = new PageVisitor(await grid.certificate('alice'));
      const page = await browser.open(webPath());
      await browser.send(formOf(page.body), { decision: 'allow' });
      expect(redirectOf(await browser.open(silent)).parameters['code']).toBeDefined();
      return browser;
    }
    async function signedOut(): Promise<PageVisitor> {
      const browser = await known();
      const page = await browser.open('/oauth2/logout');
      const left = await browser.send(formOf(page.body));
      expect([left.status, left.headers['set-cookie']]).toEqual([
        200,
        [
          '__Host-gridgate=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
          '__Host-gridgate-signed-out=1; Path=/; Secure; HttpOnly; SameSite=None; Max-Age=34560000',
        ],
      ]);
      return browser;
    }

    it('is login_required with prompt=none from then on, in a frame as well', async () => {
      const browser = await signedOut();
      expect(errorOf(await browser.open(silent))).toEqual(loginRequired);
      expect(errorOf(await browser.open(silent))).toEqual(loginRequired);
      const frame = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'cross-site' };
      expect(errorOf(await browser.open(silent, frame))).toEqual(loginRequired);
    });

    it.each(['iframe', 'frame', 'object', 'empty'])(
      'is login_required in a %s of another site, into which browsers let no cookie',
      async (destination) => {
        const frame = { 'sec-fetch-dest': destination, 'sec-fetch-site': 'cross-site' };
        const browser = await known();
        expect(redirectOf(await browser.open(silent, frame)).parameters['code']).toBeDefined();
        const framed = new PageVisitor(await grid.certificate('alice'));
        const answer = await framed.open(silent, frame);
        expect([errorOf(answer), answer.headers['set-cookie']]).toEqual([loginRequired, undefined]);
      },
    );

    it('asks on the consent page, and Allow ends it', async () => {
      const browser = await signedOut();
      const page = await browser.open(webPath());
      expect(page.body).toContain('<b>alice</b>');
      const denied = await browser.send(formOf(page.body), { decision: 'deny' });
      expect(errorOf(denied)).toEqual([303, 'access_denied']);
      expect(errorOf(await browser.open(silent))).toEqual(loginRequired);
      const allowed = await browser.send(formOf(page.body), { decision: 'allow' });
      expect([allowed.status, redirectOf(allowed).parameters['code']]).toEqual([
        303,
        expect.any(String),
      ]);
      expect(redirectOf(await browser.open(silent)).parameters['code']).toBeDefined();
    });

    it.each(['/oauth2/applications', '/oauth2/device'])(
      'asks at %s who it is, and the answer ends it',
      async (path) => {
        const browser = await signedOut();
        const page = await browser.open(path);
        expect(page.body).toContain('<h1>Sign in</h1>');
        const form = formsOf(page.body)[0]!;
        expect(form.action).toBe('/oauth2/login');
        const back = await browser.send(form);
        expect([back.status, back.headers['location']]).toEqual([303, path]);
        expect((await browser.open(path)).body).toContain('<b>alice</b>');
        expect(redirectOf(await browser.open(silent)).parameters['code']).toBeDefined();
      },
    );

    it('asks whether to sign out when the session is over, since the certificate would sign in', async () => {
      await known();
      const later = new PageVisitor(await grid.certificate('alice'));
      const page = await later.open('/oauth2/logout');
      expect(page.body).toContain('<h1>Sign out?</h1>');
      await later.send(formOf(page.body));
      expect(errorOf(await later.open(silent))).toEqual(loginRequired);
    });

    it('is offered at /oauth2/applications', async () => {
      const browser = await known();
      const { body } = await browser.open('/oauth2/applications');
      const left = await browser.send(formsOf(body).find(({ action }) => action === FORM.action)!);
      expect([left.status, left.body.includes('<h1>Signed out</h1>')]).toEqual([200, true]);
      expect(errorOf(await browser.open(silent))).toEqual(loginRequired);
    });
  });
});
