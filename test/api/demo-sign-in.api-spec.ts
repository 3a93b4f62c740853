import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formsOf, PageVisitor, pkcePair, redirectOf } from '../support/page-visitor.js';
import { eventually, startGrid, type Answer, type Grid } from '../support/testbed.js';

const KEY = 'k'.repeat(32);
const LINK = `/portal/demo/${KEY}`;
const query = (parameters: Record<string, string>): string =>
  new URLSearchParams(parameters).toString();
const BUTTON = />Continue as Alice</;

describe('the demo without certificates', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_DEMO_SIGN_IN: KEY } });
  });
  afterAll(() => grid?.remove());

  const request = (challenge = pkcePair().challenge): string =>
    `/oauth2/auth?${query({
      ...{ response_type: 'code', client_id: 'portal', redirect_uri: `${grid.url}/portal/` },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 's' },
    })}`;
  const demoForm = (page: Answer<string>, user = 'alice') =>
    formsOf(page.body).find(({ action }) => action === `/oauth2/login/demo-${user}`);

  it('lets the browser that opened the link of the demo go on as one of its users', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    const opened = await visitor.open(LINK);
    expect([opened.status, opened.headers['location']]).toEqual([303, '/portal/']);
    expect(opened.headers['set-cookie']).toBe(
      `__Host-gridgate-demo=${KEY}; Path=/; Secure; HttpOnly; SameSite=Lax`,
    );
    const { verifier, challenge } = pkcePair();
    const page = await visitor.open(request(challenge));
    expect(page.body).toMatch(BUTTON);
    const signedIn = await visitor.send(demoForm(page)!);
    expect([signedIn.status, signedIn.headers['location']]).toEqual([303, request(challenge)]);
    const consent = await visitor.open(request(challenge));
    expect(consent.body).toContain('<b>alice</b>');
    const allowed = await visitor.send(formsOf(consent.body)[0]!, { decision: 'allow' });
    const { parameters } = redirectOf(allowed);
    const { body } = await grid.anonymous.post('/oauth2/token', {
      form: {
        ...{
          grant_type: 'authorization_code',
          client_id: 'portal',
          code: parameters['code'] ?? '',
        },
        ...{ redirect_uri: `${grid.url}/portal/`, code_verifier: verifier },
      },
    });
    const { status } = await grid.bearer(body.access_token).get('/jobs');
    expect(status).toBe(200);
  });

  it('offers nothing to any other browser, and believes no form of it', async () => {
    const stranger = new PageVisitor(grid.anonymous);
    expect((await stranger.open(`/portal/demo/${'x'.repeat(32)}`)).status).toBe(404);
    expect(stranger.cookie('__Host-gridgate-demo')).toBeUndefined();
    expect((await stranger.open(request())).body).not.toContain('Continue as');
    for (const cookie of [`${KEY}k`, KEY.slice(1), '']) {
      const visitor = new PageVisitor(grid.anonymous);
      await visitor.open(LINK);
      const form = demoForm(await visitor.open(request()))!;
      visitor.setCookie('__Host-gridgate-demo', cookie);
      expect((await visitor.send(form)).status).toBe(503); // as for any provider that is none
      const page = await visitor.open(request());
      expect(page.body).toContain('<h1>Sign in</h1>');
      expect(page.body).not.toContain('Continue as');
    }
  });

  it('offers only users of the demo, as the demo has made them, and needs the form of the page', async () => {
    await grid.sql(
      `update registry_certificate set dn = '/DC=org/CN=somebody' where user_name = 'bob'`,
    );
    const visitor = new PageVisitor(grid.anonymous);
    await visitor.open(LINK);
    const page = await visitor.open('/oauth2/applications');
    expect(demoForm(page, 'bob')).toBeUndefined();
    for (const user of ['bob', 'nobody', '']) {
      const form = { ...demoForm(page)!, action: `/oauth2/login/demo-${user}` };
      expect((await visitor.send(form)).status).toBe(503);
    }
    const forged = await visitor.send(demoForm(page)!, { csrf: 'x' });
    expect(forged.status).toBe(403);
    expect((await visitor.open('/oauth2/applications')).body).toMatch(BUTTON);
  });

  it('is signed out when a membership of the user has ended, though there is one again', async () => {
    const visitor = new PageVisitor(grid.anonymous);
    await visitor.open(LINK);
    await visitor.send(demoForm(await visitor.open('/oauth2/applications'))!);
    expect((await visitor.open('/oauth2/applications')).body).not.toMatch(BUTTON);
    await grid.sql(
      `insert into registry_departure (user_name, group_name, left_at)
        values ('alice', 'grid_user', now() + interval '1 hour')`,
    );
    await grid.sql(`update registry_user set position = position where name = 'alice'`);
    await eventually(
      async () => (await visitor.open('/oauth2/applications')).body.includes('>Continue as Alice<'),
      'the page to sign in',
    );
  });
});
