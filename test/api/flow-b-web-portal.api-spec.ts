import { formOf, pkcePair, PageVisitor, redirectOf } from '../support/page-visitor.js';
import {
  allow,
  authorizePath,
  CALLBACK,
  exchange,
  PORTAL,
  portalTokens,
  renew,
} from '../support/portal.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

describe('Flow B: a web portal acts for a user', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  it('goes from the redirect to a request with the token', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(authorizePath());
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body).toContain('Demo portal asks for access');
    expect(page.body).toContain('/DC=org/DC=grid/CN=alice');
    const form = formOf(page.body);
    expect(Object.fromEntries(form.fields)).toMatchObject({ group: 'grid_user', setup: 'Prod' });
    const back = await visitor.send(form, {
      group: 'grid_share',
      setup: 'Test',
      decision: 'allow',
    });
    expect(back.status).toBe(303);
    const { place, parameters } = redirectOf(back);
    expect(place).toBe(CALLBACK);
    expect(parameters).toEqual({ code: expect.any(String), state: 'xyz', iss: grid.url });

    const tokens = await grid.anonymous.get('/oauth2/token', {
      query: {
        grant_type: 'authorization_code',
        code: String(parameters['code']),
        client_id: PORTAL,
        redirect_uri: CALLBACK,
      },
    });
    expect(tokens.status).toBe(200);
    expect(tokens.headers['cache-control']).toBe('no-store');
    expect(tokens.body).toEqual({
      access_token: expect.any(String),
      token: tokens.body.access_token,
      token_type: 'Bearer',
      expires_in: 21600,
      scope: 'jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks',
      group: 'grid_share',
      setup: 'Test',
      refresh_token: expect.any(String),
    });
    const used = await grid.anonymous.post('/oauth2/introspect', {
      form: { token: tokens.body.access_token, client_id: PORTAL },
    });
    expect(used.body).toMatchObject({
      active: true,
      username: 'alice',
      group: 'grid_share',
      setup: 'Test',
    });
  });

  it('uses the registered redirect URI when none is sent', async () => {
    const { code } = await allow(grid, 'alice', { parameters: { redirect_uri: undefined } });
    const answer = await grid.anonymous.post('/oauth2/token', {
      form: { grant_type: 'authorization_code', code: code!, client_id: PORTAL },
    });
    expect(answer.status).toBe(200);
  });

  it('binds the code to the PKCE challenge', async () => {
    const { verifier, challenge } = pkcePair();
    const parameters = { code_challenge: challenge, code_challenge_method: 'S256' };
    const { code } = await allow(grid, 'alice', { parameters });
    const wrongs: Record<string, string>[] = [
      {},
      { code_verifier: pkcePair().verifier },
      { code_verifier: challenge },
    ];
    for (const wrong of wrongs) {
      const refused = await exchange(grid, code, wrong);
      expect([refused.status, refused.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    }
    expect((await exchange(grid, code, { code_verifier: verifier })).status).toBe(200);
  });

  it('refuses a verifier for a code without challenge (PKCE downgrade)', async () => {
    const { code } = await allow(grid, 'alice');
    const refused = await exchange(grid, code, { code_verifier: pkcePair().verifier });
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'invalid_grant' }]);
  });

  it('binds the code to client and redirect URI', async () => {
    const { code } = await allow(grid, 'alice');
    const other = await exchange(grid, code, { client_id: 'swagger-ui' });
    expect([other.status, other.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    const elsewhere = await exchange(grid, code, {
      redirect_uri: 'http://localhost:8901/callback',
    });
    expect([elsewhere.status, elsewhere.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect((await exchange(grid, code)).status).toBe(200);
  });

  it('lets exactly one of parallel exchanges win', async () => {
    const { code } = await allow(grid, 'alice');
    const answers = await Promise.all(Array.from({ length: 6 }, () => exchange(grid, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it('revokes everything that came from a code that is used again', async () => {
    const { code } = await allow(grid, 'alice');
    const { body } = await exchange(grid, code);
    expect((await exchange(grid, code)).status).toBe(400);
    const after = await grid.bearer(body.access_token).post('/oauth2/introspect', {
      form: { token: body.access_token, client_id: PORTAL },
    });
    expect(after.body).toEqual({ active: false });
  });

  it('refuses an expired code', async () => {
    const { code } = await allow(grid, 'alice');
    await grid.sql("update authorization_code set expires_at = now() - interval '1 second'");
    const refused = await exchange(grid, code);
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'invalid_grant' }]);
  });

  it('tells the portal when the user refuses', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(authorizePath());
    const answer = await visitor.send(formOf(page.body), { decision: 'deny' });
    expect(redirectOf(answer).parameters).toEqual({
      error: 'access_denied',
      error_description: 'the user has refused',
      state: 'xyz',
      iss: grid.url,
    });
  });

  it('narrows the token to the asked scope and the group', async () => {
    const tokens = await portalTokens(grid, 'mona', {
      group: 'grid_mon',
      scope: 'jobs:read jobs:submit',
    });
    expect(tokens.scope).toBe('jobs:read');
  });

  it('stores codes, refresh tokens and sessions as hashes only', async () => {
    const { code } = await allow(grid, 'bob');
    const tokens = await portalTokens(grid, 'bob');
    const rows = await grid.sql<{ text: string }>(`
      select row_to_json(c)::text as text from authorization_code c
      union all select row_to_json(r)::text from refresh_token r
      union all select row_to_json(k)::text from signing_key k`);
    const all = rows.map(({ text }) => text).join('\n');
    expect(all).not.toContain(code);
    expect(all).not.toContain(tokens.refresh_token);
    expect(grid.server.log()).not.toContain(code);
    expect(grid.server.log()).not.toContain(tokens.access_token);
  });
});

describe('Flow B over two instances', () => {
  let first: Grid;
  let second: Grid;
  beforeAll(async () => {
    first = await startGrid({ env: { GRID_RATE_TOKEN: '0' } });
    second = await first.second({ GRID_PUBLIC_URL: first.url });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.remove();
  });

  it('exchanges on one instance what the other has issued', async () => {
    const { verifier, challenge } = pkcePair();
    const parameters = { code_challenge: challenge, code_challenge_method: 'S256' };
    const { code } = await allow(first, 'alice', { parameters });
    const wrong = await exchange(second, code, { code_verifier: pkcePair().verifier });
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    const { status, body } = await exchange(second, code, { code_verifier: verifier });
    expect(status).toBe(200);
    for (const grid of [first, second]) {
      const answer = await grid.bearer(body.access_token).get('/jobs');
      expect(answer.status).toBe(200);
    }
  });

  it('lets exactly one of parallel exchanges on both win, every time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { code } = await allow(first, 'bob');
      const answers = await Promise.all(
        [first, second, first, second].map((grid) => exchange(grid, code)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
      for (const { status, body } of answers) {
        if (status !== 200) expect(body).toMatchObject({ error: 'invalid_grant' });
      }
    }
  });

  it('counts a second use on the other instance as theft and ends the family on both', async () => {
    const { code } = await allow(first, 'carol');
    const { body } = await exchange(first, code);
    expect((await exchange(second, code)).status).toBe(400);
    for (const grid of [first, second]) {
      await eventually(
        async () => (await grid.bearer(body.access_token).get('/jobs')).status === 401,
        'the revocation on both instances',
      );
      const renewed = await renew(grid, body.refresh_token);
      expect([renewed.status, renewed.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    }
  });
});
