import { adminToken, NO_SCOPE, startAdministered, told } from '../support/administration.js';
import { challengeOf } from '../support/challenges.js';
import { ask, narrow } from '../support/grid-tokens.js';
import { allow, authorizePath, exchange, portalTokens, renew } from '../support/portal.js';
import { PageVisitor, redirectOf } from '../support/page-visitor.js';
import { TokenForge } from '../support/tenants/tokens.js';
import { eventually, type Answer, type Grid, type GridClient } from '../support/testbed.js';

let grid: Grid;
let adam: GridClient;

beforeAll(async () => {
  ({ grid, adam } = await startAdministered());
});
afterAll(async () => grid?.remove());

describe('the scope of administration', () => {
  it('is given to those who may have it when it is asked for by name, and never else', async () => {
    const scopeOf = async (name: 'adam' | 'alice', group: string, scope?: string) => {
      const { status, body } = await ask(grid, name, scope === undefined ? {} : { scope }, group);
      return [status, status === 200 ? body.scope : body.error];
    };
    const usual = 'jobs:read jobs:kill catalogue:read webhooks';
    expect(await scopeOf('adam', 'grid_adm')).toEqual([200, usual]);
    expect(await scopeOf('adam', 'grid_adm', 'admin')).toEqual([200, 'admin']);
    expect(await scopeOf('adam', 'grid_adm', 'admin jobs:read')).toEqual([200, 'jobs:read admin']);
    expect(await scopeOf('alice', 'grid_user', 'admin')).toEqual([400, 'invalid_scope']);
    expect(await scopeOf('alice', 'grid_user', 'admin jobs:read')).toEqual([200, 'jobs:read']);
  });

  it('is asked about in plain words, each time, and stays with the consent', async () => {
    const scope = 'jobs:read admin';
    const visitor = new PageVisitor(await grid.certificate('adam'));
    const { body } = await visitor.open(authorizePath({ scope }));
    expect(String(body).match(/<li>.*?<\/li>/g)).toEqual([
      '<li>See your jobs and their output</li>',
      '<li>Administer the service: its users, groups, applications, signing keys and sites</li>',
    ]);
    const { code } = await allow(grid, 'adam', { parameters: { scope }, group: 'grid_adm' });
    const tokens = (await exchange(grid, code)).body;
    expect(tokens.scope).toBe(scope);
    expect((await grid.bearer(tokens.access_token).get('/admin/keys')).status).toBe(200);
    const renewed = (await renew(grid, tokens.refresh_token)).body;
    expect(renewed.scope).toBe(scope);
    const less = (await renew(grid, renewed.refresh_token, { scope: 'jobs:read' })).body;
    expect(less.scope).toBe('jobs:read');
    const usual = await portalTokens(grid, 'adam', { group: 'grid_adm' });
    expect(usual.scope).toBe('jobs:read jobs:kill catalogue:read webhooks');
    const wider = await renew(grid, usual.refresh_token, { scope: 'admin' });
    expect([wider.status, (wider.body as { error?: string }).error]).toEqual([
      400,
      'invalid_scope',
    ]);
  });

  it('is never given without a page, also to whom it was given before', async () => {
    const path = (scope: string): string =>
      `/oauth2/auth?${new URLSearchParams({
        ...{ response_type: 'code', client_id: 'web', redirect_uri: 'https://web.example/cb' },
        ...{ scope, state: 's', prompt: 'none' },
      }).toString()}`;
    await grid.sql(
      `insert into registry_application (id, position, name, redirect_uris, confidential, origin)
        values ('web', 60, 'Web', '{https://web.example/cb}', false, 'command')`,
    );
    await grid.sql(
      `insert into authorization_grant (id, user_name, sub, client_id, group_name, setup, scope, created_at, used_at, expires_at)
        select 'given', name, sub, 'web', 'grid_adm', 'Prod', 'jobs:read admin openid', now(), now(), now() + '1 day'
        from registry_user where name = 'adam'`,
    );
    const visitor = new PageVisitor(await grid.certificate('adam'));
    await visitor.open(authorizePath()); // signs in
    const silent = async (scope: string): Promise<unknown[]> => {
      const { parameters } = redirectOf(await visitor.open(path(scope)));
      return [typeof parameters['code'], parameters['error']];
    };
    expect(await silent('openid jobs:read')).toEqual(['string', undefined]);
    expect(await silent('openid jobs:read admin')).toEqual(['undefined', 'consent_required']);
  });

  it('goes over to another token only by name, and only from one that has it', async () => {
    const token = await adminToken(grid, 'grid_adm', 'jobs:read');
    const whole = await narrow(grid, token, {});
    expect(whole.body.scope).toBe('jobs:read');
    const named = await narrow(grid, token, { scope: 'admin' });
    expect(named.body.scope).toBe('admin');
    expect((await grid.bearer(named.body.access_token).get('/admin/sites')).status).toBe(200);
    for (const parent of [
      await grid.token('adam', 'grid_adm'),
      whole.body.access_token as string,
    ]) {
      const wider = await narrow(grid, parent, { scope: 'admin' });
      expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope']);
    }
  });

  it('is none of a job', async () => {
    const root = grid.bearer(await adminToken(grid, 'root', 'jobs:read jobs:submit'));
    const submitted = (scope: string): Promise<Answer> =>
      root.post('/jobs', { json: { Executable: '/bin/true', Token: { scope } } });
    const alone = await submitted('admin');
    expect([alone.status, JSON.stringify(alone.body)]).toEqual([
      400,
      expect.stringContaining('Token'),
    ]);
    const both = await submitted('jobs:read admin');
    expect(both.status).toBe(200);
    const rows = await grid.sql<{ delegation: { scope: string } }>(
      'select delegation from job_token_rights',
    );
    expect(rows.map(({ delegation }) => delegation.scope)).toEqual(['jobs:read']);
  });

  it('is none of an application that acts for itself, whatever it is registered with', async () => {
    const added = await adam.post('/admin/applications', {
      json: { name: 'Robot', confidential: true, scopes: ['admin'], group: 'grid_adm' },
    });
    expect([added.status, added.body.violations]).toEqual([
      400,
      [{ field: 'scopes', problem: 'admin is not known' }],
    ]);
    const json = { name: 'Robot', confidential: true, scopes: ['jobs:read'], group: 'grid_adm' };
    const { body: robot } = await adam.post('/admin/applications', { json });
    await grid.sql(`update registry_application set scopes = '{jobs:read,admin}' where id = $1`, [
      robot.id,
    ]);
    const tokenFor = (form: Record<string, string>): Promise<Answer> =>
      grid.anonymous.post('/oauth2/token', {
        form: {
          ...{ grant_type: 'client_credentials', client_id: robot.id, client_secret: robot.secret },
          ...form,
        },
      });
    expect((await tokenFor({})).body.scope).toBe('jobs:read');
    expect((await tokenFor({ scope: 'admin' })).body.error).toBe('invalid_scope');
  });
});

describe('whether somebody may administer', () => {
  it('is told to everybody who reads jobs', async () => {
    const told = async (client: GridClient): Promise<unknown> =>
      (await client.get('/admin/access')).body;
    expect(await told(adam)).toEqual({ possible: true, granted: true });
    expect(await told(await grid.as('adam'))).toEqual({ possible: true, granted: false });
    expect(await told(await grid.as('alice'))).toEqual({ possible: false, granted: false });
    const other = grid.bearer(await grid.token('alice', 'grid_user', 'Prod', 'catalogue:read'));
    expect((await other.get('/admin/access')).status).toBe(403);
  });
});

describe('administration is closed', () => {
  const open = (client: GridClient): Promise<Answer> => client.get('/admin/users');

  it('without a token, and without the scope', async () => {
    const missing = await open(grid.anonymous);
    expect([...told(missing), missing.headers['www-authenticate']]).toEqual([
      ...[401, 'auth.token-missing', 'Send an access token'],
      challengeOf(grid, 'Bearer realm="gridgate"'),
    ]);
    expect(told(await open(await grid.certificate('adam')))[0]).toBe(401);
    const usual = await open(await grid.as('adam'));
    expect([...told(usual), usual.headers['www-authenticate']]).toEqual([
      ...NO_SCOPE,
      challengeOf(
        grid,
        'Bearer realm="gridgate", error="insufficient_scope", error_description="This needs the scope admin", scope="admin"',
      ),
    ]);
    const narrowed = grid.bearer(await grid.token('adam', 'grid_adm', 'Prod', 'jobs:read'));
    expect(told(await open(narrowed))).toEqual(NO_SCOPE);
  });

  it('in the query string', async () => {
    const query = { access_token: await adminToken(grid) };
    const { status, body } = await grid.anonymous.get('/admin/keys', { query });
    expect([status, body.code]).toEqual([401, 'auth.token-missing']);
    expect((await grid.anonymous.post('/admin/keys/rotation', { query })).status).toBe(401);
  });

  it('to groups without the property, also when the token says the scope', async () => {
    const forge = await TokenForge.of(grid);
    expect(told(await open(grid.bearer(forge.token({ scope: 'admin jobs:read' }))))).toEqual(
      NO_SCOPE,
    );
  });

  it('once the group has lost the property, or the user the group', async () => {
    const client = grid.bearer(await adminToken(grid, 'root'));
    expect((await open(client)).status).toBe(200);
    await grid.sql(`update registry_group set properties = '{NormalUser}' where name = 'root'`);
    await eventually(async () => (await open(client)).status === 403, 'the loss');
    expect(told(await open(client))).toEqual(NO_SCOPE);
    await grid.sql(
      `update registry_group set properties = '{NormalUser,ServiceAdministrator}' where name = 'root'`,
    );
    await eventually(async () => (await open(client)).status === 200, 'the property');
    const changes = ['~ groups.root: members -adam'];
    expect((await adam.delete('/admin/groups/root/members/adam')).body).toEqual({ changes });
    expect(told(await open(client)).slice(0, 2)).toEqual([401, 'auth.token-invalid']);
    await adam.put('/admin/groups/root/members/adam');
  });
});
