import { openidTokens, type OpenidAnswer } from '../support/openid.js';
import { formOf, formsOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { authorizePath, exchange, PORTAL } from '../support/portal.js';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

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
    const form = { action: '/oauth2/logout', method: 'post', fields: [] };
    const left = await browser.send(form, fields);
    expect([left.status, left.headers['location']]).toEqual([303, AFTER]);
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
    ['an application without any', { client_id: 'portal', post_logout_redirect_uri: AFTER }],
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
});
