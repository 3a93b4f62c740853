import { decodeJwt } from 'jose';
import { PORTAL, portalTokens, renew } from '../support/portal.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

describe('refresh, revocation and introspection', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  const works = async (token: string, on = grid): Promise<boolean> =>
    (await on.bearer(token).get('/jobs')).status === 200;
  const age = (seconds: number) =>
    grid.sql(`update refresh_token set used_at = used_at - interval '${seconds} seconds'`);

  it('rotates: a new access token and a new refresh token', async () => {
    const first = await portalTokens(grid, 'alice');
    const second = await renew(grid, first.refresh_token);
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({ group: 'grid_user', setup: 'Prod', token_type: 'Bearer' });
    expect(second.body.refresh_token).not.toBe(first.refresh_token);
    expect(await works(second.body.access_token)).toBe(true);
    expect((await renew(grid, second.body.refresh_token)).status).toBe(200);
  });

  it('gives parallel renewals the same successor, and none is logged out', async () => {
    const first = await portalTokens(grid, 'alice');
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => renew(grid, first.refresh_token)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.refresh_token)).size).toBe(1);
    for (const { body } of answers) expect(await works(body.access_token)).toBe(true);
    expect((await renew(grid, answers[0]!.body.refresh_token)).status).toBe(200);
  });

  it('keeps renewals apart that come together, the refused ones too', async () => {
    const users = ['alice', 'bob', 'alice', 'bob', 'alice', 'bob'] as const;
    const first = await Promise.all(users.map((user) => portalTokens(grid, user)));
    const gone = await portalTokens(grid, 'alice');
    const { status } = await grid.anonymous.post('/oauth2/revoke', {
      form: { client_id: PORTAL, token: gone.refresh_token },
    });
    expect(status).toBe(200);
    let tokens = first.map(({ refresh_token: token }) => token);
    const seen = new Set(tokens);
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        [...tokens, gone.refresh_token, 'nonsense'].map((token) => renew(grid, token)),
      );
      expect(answers.map((answer) => answer.status)).toEqual([...users.map(() => 200), 400, 400]);
      const renewed = answers.slice(0, users.length).map(({ body }) => body);
      expect(renewed.map(({ access_token: token }) => decodeJwt(token).sub)).toEqual(
        first.map(({ access_token: token }) => decodeJwt(token).sub),
      );
      tokens = renewed.map(({ refresh_token: token }) => token);
      for (const token of tokens) seen.add(token);
    }
    expect(seen.size).toBe(6 * users.length);
  });

  it('revokes nothing inside the grace, even when the successor is used', async () => {
    const first = await portalTokens(grid, 'alice');
    const second = await renew(grid, first.refresh_token);
    const third = await renew(grid, second.body.refresh_token);
    const late = await renew(grid, first.refresh_token);
    expect([late.status, late.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect(await works(third.body.access_token)).toBe(true);
    expect((await renew(grid, third.body.refresh_token)).status).toBe(200);
  });

  it('revokes the family, and only it, when a token is used again after the grace', async () => {
    const other = await portalTokens(grid, 'alice');
    const first = await portalTokens(grid, 'alice');
    const second = await renew(grid, first.refresh_token);
    await age(60);
    const replay = await renew(grid, first.refresh_token);
    expect([replay.status, replay.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    expect((await renew(grid, second.body.refresh_token)).status).toBe(400);
    await eventually(async () => !(await works(second.body.access_token)), 'revoked');
    expect(await works(other.access_token)).toBe(true);
    expect((await renew(grid, other.refresh_token)).status).toBe(200);
  });

  it('narrows the scope on request, and widens it again', async () => {
    const first = await portalTokens(grid, 'alice');
    const narrow = await renew(grid, first.refresh_token, { scope: 'jobs:read' });
    expect(narrow.body.scope).toBe('jobs:read');
    const wide = await renew(grid, narrow.body.refresh_token);
    expect(wide.body.scope).toBe(first.scope);
    const nothing = await renew(grid, wide.body.refresh_token, { scope: 'nonsense' });
    expect([nothing.status, nothing.body]).toMatchObject([400, { error: 'invalid_scope' }]);
  });

  it('refuses tokens that are expired, of another application or no refresh tokens', async () => {
    const tokens = await portalTokens(grid, 'alice');
    const refused = [
      await renew(grid, tokens.refresh_token, { client_id: 'swagger-ui' }),
      await renew(grid, tokens.access_token),
      await renew(grid, 'nonsense'),
    ];
    for (const { status, body } of refused) {
      expect([status, body]).toMatchObject([400, { error: 'invalid_grant' }]);
    }
    await grid.sql("update refresh_token set expires_at = now() - interval '1 second'");
    expect((await renew(grid, tokens.refresh_token)).status).toBe(400);
  });

  it('stops to renew for a user who has left the group', async () => {
    const tokens = await portalTokens(grid, 'carol');
    await grid.sql("delete from registry_member where user_name = 'carol'");
    await eventually(async () => !(await works(tokens.access_token)), 'the member is gone');
    const refused = await renew(grid, tokens.refresh_token);
    expect([refused.status, refused.body]).toMatchObject([400, { error: 'invalid_grant' }]);
    await grid.sql("insert into registry_member values ('grid_user', 'carol', 9)");
    await eventually(() => works(tokens.access_token), 'the member is back');
  });

  describe('POST /oauth2/revoke', () => {
    const revoke = (form: Record<string, string>, on = grid.anonymous) =>
      on.post('/oauth2/revoke', { form });

    it('ends an access token at once', async () => {
      const tokens = await portalTokens(grid, 'alice');
      expect(await works(tokens.access_token)).toBe(true);
      const answer = await revoke({ token: tokens.access_token, client_id: PORTAL });
      expect(answer.status).toBe(200);
      expect(await works(tokens.access_token)).toBe(false);
      expect((await renew(grid, tokens.refresh_token)).status).toBe(200);
    });

    it('ends the family with a refresh token', async () => {
      const tokens = await portalTokens(grid, 'alice');
      expect((await revoke({ token: tokens.refresh_token, client_id: PORTAL })).status).toBe(200);
      await eventually(async () => !(await works(tokens.access_token)), 'revoked');
      expect((await renew(grid, tokens.refresh_token)).status).toBe(400);
    });

    it('lasts as long as tokens do that were made when they lived longer', async () => {
      const tokens = await portalTokens(grid, 'bob');
      const [consent] = (decodeJwt(tokens.access_token).jti ?? '').split('.');
      await grid.sql('update signing_key set longest_ttl = 86400'); // GRID_ACCESS_TOKEN_TTL was a day
      await revoke({ token: tokens.refresh_token, client_id: PORTAL });
      const [row] = await grid.sql(
        "select expires_at > now() + interval '1 day' as lasts from revoked_token where id = $1",
        [consent],
      );
      expect(row).toEqual({ lasts: true });
    });

    it('ends a certificate token by the certificate or by itself', async () => {
      const alice = await grid.certificate('alice');
      const first = await grid.token('alice', 'grid_user');
      expect((await revoke({ token: first }, alice)).status).toBe(200);
      expect(await works(first)).toBe(false);
      const second = await grid.token('alice', 'grid_user');
      expect((await revoke({ token: second }, grid.bearer(second))).status).toBe(200);
      expect(await works(second)).toBe(false);
    });

    it('does nothing with tokens of others or nonsense, and says nothing', async () => {
      const tokens = await portalTokens(grid, 'alice');
      const certificate = await grid.token('alice', 'grid_user');
      const bob = await grid.certificate('bob');
      const answers = [
        await revoke({ token: tokens.access_token, client_id: 'swagger-ui' }),
        await revoke({ token: tokens.refresh_token }, bob),
        await revoke({ token: certificate }, bob),
        await revoke({ token: 'nonsense', client_id: PORTAL }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await works(tokens.access_token)).toBe(true);
      expect(await works(certificate)).toBe(true);
    });

    it('needs to know who asks', async () => {
      const answer = await revoke({ token: await grid.token('alice', 'grid_user') });
      expect([answer.status, answer.body]).toMatchObject([401, { error: 'invalid_client' }]);
      const none = await revoke({ client_id: PORTAL });
      expect([none.status, none.body]).toMatchObject([400, { error: 'invalid_request' }]);
    });
  });

  describe('POST /oauth2/introspect', () => {
    const introspect = async (form: Record<string, string>, on = grid.anonymous) =>
      (await on.post('/oauth2/introspect', { form })).body;

    it('describes live tokens to their application', async () => {
      const tokens = await portalTokens(grid, 'alice', { scope: 'jobs:read' });
      const form = { token: tokens.access_token, client_id: PORTAL };
      expect(await introspect(form)).toEqual({
        active: true,
        scope: 'jobs:read',
        client_id: PORTAL,
        username: 'alice',
        token_type: 'Bearer',
        exp: expect.any(Number),
        iat: expect.any(Number),
        sub: decodeJwt(tokens.access_token).sub,
        nbf: expect.any(Number),
        aud: grid.url,
        iss: grid.url,
        jti: expect.any(String),
        group: 'grid_user',
        setup: 'Prod',
      });
      const refresh = await introspect({ token: tokens.refresh_token, client_id: PORTAL });
      expect(refresh).toMatchObject({
        active: true,
        client_id: PORTAL,
        username: 'alice',
        sub: decodeJwt(tokens.access_token).sub,
      });
    });

    it('says only that others and dead tokens are not active', async () => {
      const tokens = await portalTokens(grid, 'alice');
      const form = { token: tokens.access_token, client_id: 'swagger-ui' };
      expect(await introspect(form)).toEqual({ active: false });
      await renew(grid, tokens.refresh_token);
      const used = await introspect({ token: tokens.refresh_token, client_id: PORTAL });
      expect(used).toEqual({ active: false });
    });
  });

  describe('two instances', () => {
    it('share codes, revocations, registry and keys', async () => {
      const second = await grid.second();
      try {
        const tokens = await portalTokens(grid, 'alice');
        const renewed = await renew(second, tokens.refresh_token);
        expect(renewed.status).toBe(200);
        const again = await renew(grid, renewed.body.refresh_token);
        expect(again.status).toBe(200);
        const key = async (on: Grid) => (await on.anonymous.get('/.well-known/jwks.json')).body;
        expect(await key(second)).toEqual(await key(grid));
      } finally {
        await second.server.stop();
      }
    });

    it('make revocation and removal from a group effective on both within a second', async () => {
      const second = await grid.second({ GRID_PUBLIC_URL: grid.url });
      try {
        const tokens = await portalTokens(grid, 'bob');
        expect(await works(tokens.access_token, second)).toBe(true);
        await grid.anonymous.post('/oauth2/revoke', {
          form: { token: tokens.access_token, client_id: PORTAL },
        });
        await eventually(async () => !(await works(tokens.access_token, second)), 'it');
        const certificate = await grid.token('bob', 'grid_share');
        expect(await works(certificate, second)).toBe(true);
        await grid.sql("delete from registry_member where user_name = 'bob'");
        await eventually(async () => !(await works(certificate, second)), 'it');
        await eventually(async () => !(await works(certificate)), 'it');
      } finally {
        await second.server.stop();
      }
    });
  });
});
