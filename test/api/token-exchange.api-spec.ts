import { decodeJwt } from 'jose';
import { ACCESS_TOKEN, narrow, registerMovers, STORAGE, tokenOf } from '../support/grid-tokens.js';
import { PORTAL, portalTokens } from '../support/portal.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const ANY = 'https://wlcg.cern.ch/jwt/v1/any';
const nothing = [400, 'invalid_scope'];

describe('exchange of our own tokens', () => {
  let grid: Grid;

  beforeAll(async () => {
    grid = await startGrid();
    await registerMovers(grid);
  });
  afterAll(async () => grid?.remove());

  it('gives a narrower token that names the application and dies with its parent', async () => {
    const parent = await tokenOf(grid, 'jobs:read storage.read:/vo/a', { audience: STORAGE });
    const { status, body } = await narrow(grid, parent, { scope: 'storage.read:/vo/a/run1' });
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token: body.access_token,
        issued_token_type: ACCESS_TOKEN,
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'storage.read:/vo/a/run1',
        group: 'grid_user',
        setup: 'Prod',
      },
    ]);
    const claims = decodeJwt(body.access_token);
    const before = decodeJwt(parent);
    expect(claims).toMatchObject({
      sub: before.sub,
      aud: STORAGE,
      client_id: 'mover',
      act: { sub: 'mover' },
    });
    expect(claims.exp).toBeLessThanOrEqual(before.exp!);
    const again = await narrow(grid, body.access_token, {}, 'twin');
    expect(decodeJwt(again.body.access_token)['act']).toEqual({
      sub: 'twin',
      act: { sub: 'mover' },
    });
    const isActive = async (token: string) => {
      const about = await grid.bearer(token).post('/oauth2/introspect', { form: { token } });
      return about.body.active as boolean;
    };
    expect(await isActive(again.body.access_token)).toBe(true);
    await grid.bearer(parent).post('/oauth2/revoke', { form: { token: parent } });
    for (const token of [parent, body.access_token, again.body.access_token]) {
      const form = { token, client_id: 'twin' };
      await eventually(
        async () => !(await grid.anonymous.post('/oauth2/introspect', { form })).body.active,
        'the child is dead',
      );
    }
    expect((await narrow(grid, body.access_token, {})).body.error).toBe('invalid_request');
  });

  it('of a token for here gives one for here, which dies with the consent', async () => {
    const tokens = await portalTokens(grid, 'alice', { scope: 'jobs:read jobs:kill' });
    const { body } = await narrow(grid, tokens.access_token, { scope: 'compute.read' });
    expect((await grid.bearer(body.access_token).get('/jobs')).status).toBe(200);
    const form = { token: tokens.refresh_token, client_id: PORTAL };
    await grid.anonymous.post('/oauth2/revoke', { form });
    await eventually(
      async () => (await grid.bearer(body.access_token).get('/jobs')).status === 401,
      'the child of the consent is dead',
    );
  });

  it('dies when an application on the way is removed', async () => {
    await grid.sql(
      `insert into registry_application (id, position, name, redirect_uris, confidential, origin)
        values ('brief', 60, 'Brief', '{}', false, 'command')`,
    );
    const parent = await tokenOf(grid, 'jobs:read');
    const first = await eventually(async () => {
      const answer = await narrow(grid, parent, {}, 'brief');
      return answer.status === 200 && answer;
    }, 'the application');
    const { body } = await narrow(grid, first.body.access_token, {}, 'twin');
    expect((await grid.bearer(body.access_token).get('/jobs')).status).toBe(200);
    await grid.sql("delete from registry_application where id = 'brief'");
    await eventually(
      async () => (await grid.bearer(body.access_token).get('/jobs')).status === 401,
      'the application is gone',
    );
  });

  it.each<[string, Record<string, string>, string, number, string]>([
    ['a wider scope', { scope: 'jobs:submit' }, 'mover', 400, 'invalid_scope'],
    ['a path above', { scope: 'storage.read:/vo' }, 'mover', 400, 'invalid_scope'],
    ['a path beside', { scope: 'storage.read:/vo/ab' }, 'mover', 400, 'invalid_scope'],
    ['another audience', { audience: 'https://x.example' }, 'twin', 400, 'invalid_target'],
    ['one the application has not', { audience: STORAGE }, 'gridgate-cli', 400, 'invalid_target'],
    ['every service', { audience: ANY }, 'twin', 400, 'invalid_target'],
    ['another group', { group: 'grid_share' }, 'mover', 403, 'access_denied'],
    ['another setup', { setup: 'Test' }, 'mover', 403, 'access_denied'],
    ['an unknown application', {}, 'nobody', 401, 'invalid_client'],
    ['an actor', { actor_token: 'x' }, 'mover', 400, 'invalid_request'],
  ])('refuses %s', async (_what, form, client, status, error) => {
    const token = await tokenOf(grid, 'storage.read:/vo/a jobs:read', { audience: STORAGE });
    const answer = await narrow(grid, token, form, client);
    expect([answer.status, answer.body.error]).toEqual([status, error]);
  });

  it('gives no group that the other does not name', async () => {
    const parent = await tokenOf(grid, 'wlcg.groups jobs:read');
    const scope = 'wlcg.groups:/vo/grid_share wlcg.groups:/vo';
    const { body } = await narrow(grid, parent, { scope });
    expect([body.scope, decodeJwt(body.access_token)['wlcg.groups']]).toEqual([
      'wlcg.groups:/vo',
      ['/vo', '/vo/grid_user'],
    ]);
    const none = await narrow(grid, await tokenOf(grid, 'jobs:read'), { scope: 'wlcg.groups' });
    expect([none.status, none.body.error]).toEqual(nothing);
  });
});
