import { decodeJwt } from 'jose';
import { ask, registerMovers, STORAGE, tokenOf } from '../support/grid-tokens.js';
import { allow, authorizePath, exchange, PORTAL, portalTokens, renew } from '../support/portal.js';
import { formOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type Identity,
} from '../support/testbed.js';

const ANY = 'https://wlcg.cern.ch/jwt/v1/any';

const encoded = (path: string): string => Buffer.from(path).toString('base64url');
const directory = (path: string): string => `/filecatalogue/directory/${encoded(path)}`;
const file = (path: string): string => `/filecatalogue/file/${encoded(path)}`;
const OUTSIDE = [403, 'auth.insufficient-scope'];
const told = ({ status, body }: Answer): unknown[] => [status, body.code];

describe('tokens for the grid', () => {
  let grid: Grid;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_CATALOGUE_GLOBAL_READ: 'false' } });
    await registerMovers(grid);
    const fred = await grid.as('fred');
    const made: [string, object][] = [
      ['/vo/own', { Mode: 0o755 }],
      ['/vo/own/open', { Mode: 0o777 }],
      ['/vo/own/closed', { Mode: 0o700 }],
      ['/vo/shared', { Mode: 0o777 }],
      ['/vo/shared/deep', { Mode: 0o777 }],
    ];
    for (const [path, json] of made) {
      const { status } = await fred.post(directory(path), { json });
      if (status !== 201) throw new Error(`${path}: ${status}`);
    }
  });
  afterAll(async () => grid?.remove());

  const nothing = [400, 'invalid_scope'];

  describe('the audience', () => {
    it('is what is asked for, as a text or a list; here only tokens for here are taken', async () => {
      const audienceOf = async (form: [string, string][]) => {
        const { body } = await ask(grid, 'alice', form);
        const token = body.access_token as string;
        return [decodeJwt(token).aud, (await grid.bearer(token).get('/jobs')).status];
      };
      expect(await audienceOf([])).toEqual([grid.url, 200]);
      expect(await audienceOf([['audience', STORAGE]])).toEqual([STORAGE, 401]);
      expect(await audienceOf([['resource', STORAGE]])).toEqual([STORAGE, 401]);
      expect(
        await audienceOf([
          ['audience', STORAGE],
          ['resource', grid.url],
          ['audience', 'condor://ce'],
        ]),
      ).toEqual([[STORAGE, 'condor://ce', grid.url], 200]);
      expect(await audienceOf([['audience', ANY]])).toEqual([ANY, 401]);
    });

    it('may be every service where that is switched on', async () => {
      const other = await grid.second({ GRID_ACCEPT_ANY_AUDIENCE: 'true' });
      try {
        const issuer = { iss: other.url };
        const client = await other.certificate('alice');
        const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
        const { body } = await client.get('/oauth2/token', { query: { ...query, audience: ANY } });
        expect(decodeJwt(body.access_token)).toMatchObject({ ...issuer, aud: ANY });
        expect((await other.bearer(body.access_token).get('/jobs')).status).toBe(200);
        const elsewhere = await client.get('/oauth2/token', {
          query: { ...query, audience: STORAGE },
        });
        expect((await other.bearer(elsewhere.body.access_token).get('/jobs')).status).toBe(401);
      } finally {
        await other.remove();
      }
    });

    it.each([
      [{ resource: 'storage' }, 'A resource is an absolute URI without a fragment'],
      [{ resource: `${STORAGE}#a` }, 'A resource is an absolute URI without a fragment'],
      [
        { audience: 'a b' },
        'An audience must be 1 to 500 printable ASCII characters without blanks',
      ],
      [{ audience: '*' }, '* names no service'],
    ])('is refused as %j', async (form, detail) => {
      const { status, body } = await ask(grid, 'alice', form);
      expect([status, body.error, body.error_description]).toEqual([400, 'invalid_target', detail]);
    });

    it('is one of those that the application was registered with', async () => {
      const refused = await new PageVisitor(await grid.certificate('alice')).open(
        authorizePath({ resource: STORAGE }),
      );
      expect(redirectOf(refused).parameters).toMatchObject({
        error: 'invalid_target',
        state: 'xyz',
      });
      const own = await portalTokens(grid, 'alice');
      const renewed = await renew(grid, own.refresh_token, { audience: STORAGE });
      expect([renewed.status, (renewed.body as { error?: string }).error]).toEqual([
        ...[400, 'invalid_target'],
      ]);
    });

    it('goes from the authorization request to the tokens, and may be narrowed', async () => {
      await grid.sql(
        `update registry_application set audiences = '{${STORAGE},https://x.example}' where id = '${PORTAL}'`,
      );
      const asked = authorizePath({ resource: STORAGE, audience: grid.url });
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const page = await eventually(async () => {
        const opened = await visitor.open(asked);
        return opened.status === 200 && opened;
      }, 'the audiences of the application');
      const choice = { group: 'grid_user', setup: 'Prod', decision: 'allow' };
      const { code } = redirectOf(await visitor.send(formOf(page.body), choice)).parameters;
      const { body } = await exchange(grid, code);
      expect(decodeJwt(body.access_token).aud).toEqual([grid.url, STORAGE]);
      const narrowed = await renew(grid, body.refresh_token, { audience: STORAGE });
      expect(decodeJwt(narrowed.body.access_token).aud).toBe(STORAGE);
      const wider = await renew(grid, narrowed.body.refresh_token, {
        audience: 'https://x.example',
      });
      expect(wider.status).toBe(400);
    });
  });

  describe('scopes of the WLCG profile', () => {
    it.each<[Identity, string, string, string]>([
      ['alice', 'grid_user', 'storage.read:/vo/shared', 'storage.read:/vo/shared'],
      ['alice', 'grid_user', 'storage.modify:/vo/shared/', 'storage.modify:/vo/shared/'],
      ['alice', 'grid_user', 'storage.create:/vo/sh%61red/new', 'storage.create:/vo/shared/new'],
      ['alice', 'grid_user', 'wlcg compute.read jobs:read', 'jobs:read wlcg compute.read'],
      [
        'alice',
        'grid_user',
        'storage.modify:/vo/own storage.read:/vo/own/open',
        'storage.read:/vo/own/open',
      ],
      ['alice', 'grid_user', 'storage.read:/vo/own wlcg', 'wlcg'],
      [
        'alice',
        'grid_user',
        'storage.modify:/vo/own/new storage.modify:/vo/own/open',
        'storage.modify:/vo/own/open',
      ],
      [
        'mona',
        'grid_mon',
        'storage.create:/vo/shared storage.read:/vo/shared',
        'storage.read:/vo/shared',
      ],
      ['mona', 'grid_mon', 'compute.create compute.cancel compute.read', 'compute.read'],
      ['fred', 'grid_fc', 'storage.modify:/', 'storage.modify:/'],
    ])('%s of %s asks for %s and gets %s', async (name, group, scope, granted) => {
      const { status, body } = await ask(grid, name, { scope }, group);
      expect([status, body.scope]).toEqual([200, granted]);
      expect(decodeJwt(body.access_token)['scope']).toBe(granted);
      expect(body.expires_in).toBe(granted.includes('storage.') ? 3600 : 21600);
    });

    it.each<[Identity, string, string]>([
      ['alice', 'grid_user', 'storage.read:/vo/own/closed'],
      ['alice', 'grid_user', 'storage.read:/vo/own'],
      ['alice', 'grid_user', 'storage.read'],
      ['alice', 'grid_user', 'storage.read:vo/shared'],
      ['alice', 'grid_user', 'storage.read:/vo/shared/../own/closed'],
      ['alice', 'grid_user', 'wlcg.groups:/vo/grid_adm compute.x'],
      ['mona', 'grid_mon', 'storage.modify:/vo/shared compute.create'],
    ])('%s of %s gets nothing for %s', async (name, group, scope) => {
      const { status, body } = await ask(grid, name, { scope }, group);
      const left = scope.startsWith('wlcg.groups') ? [400, 'invalid_scope'] : nothing;
      expect([status, body.error]).toEqual(left);
    });

    it('name groups, the one that is asked for first', async () => {
      const groupsOf = async (scope: string) =>
        decodeJwt(await tokenOf(grid, scope))['wlcg.groups'];
      expect(await groupsOf('wlcg.groups')).toEqual(['/vo/grid_user', '/vo']);
      expect(await groupsOf('wlcg.groups:/vo/grid_share')).toEqual([
        ...['/vo/grid_share', '/vo/grid_user', '/vo'],
      ]);
      expect(await groupsOf('jobs:read wlcg')).toBeUndefined();
      const token = await tokenOf(grid, 'wlcg.groups');
      const about = await grid.bearer(token).post('/oauth2/introspect', { form: { token } });
      expect(about.body).toMatchObject({
        active: true,
        username: 'alice',
        sub: decodeJwt(token).sub,
        'wlcg.groups': ['/vo/grid_user', '/vo'],
      });
    });

    it('compute.* mean the same as jobs:*', async () => {
      const submitter = grid.bearer(await tokenOf(grid, 'compute.create'));
      const { status, body } = await submitter.post('/jobs', { json: { Executable: '/bin/true' } });
      expect(status).toBe(200);
      const [jid] = body.jids as number[];
      expect((await submitter.get(`/jobs/${jid}`)).status).toBe(403);
      const reader = grid.bearer(await tokenOf(grid, 'compute.read'));
      expect((await reader.get(`/jobs/${jid}`)).status).toBe(200);
      expect((await reader.delete(`/jobs/${jid}`)).status).toBe(403);
      const changer = grid.bearer(await tokenOf(grid, 'compute.modify'));
      expect((await changer.delete(`/jobs/${jid}`)).status).toBe(403);
      expect((await changer.post(`/jobs/${jid}/reschedule`)).status).not.toBe(403);
      const canceller = grid.bearer(await tokenOf(grid, 'compute.cancel'));
      expect((await canceller.post(`/jobs/${jid}/reschedule`)).status).toBe(403);
      expect((await canceller.delete(`/jobs/${jid}`)).status).not.toBe(403);
    });
  });

  describe('storage scopes in the catalogue', () => {
    it('storage.read reads below its path, by whole names, and nothing else', async () => {
      const reader = grid.bearer(await tokenOf(grid, 'storage.read:/vo/a'));
      expect((await reader.get(directory('/vo/a'))).status).toBe(200);
      expect((await reader.get(directory('/vo/a/run1'))).status).toBe(200);
      expect((await reader.get(`${directory('/vo/a')}/search`)).status).toBe(200);
      expect((await reader.get(`${directory('/vo/a')}/metadata`)).status).toBe(200);
      const refused = [
        ...['/vo', '/', '/vo/ab', '/vo/b', '/nowhere'].map((path) => directory(path)),
        ...['/vo', '/vo/b'].flatMap((path) =>
          ['search', 'metadata'].map((what) => `${directory(path)}/${what}`),
        ),
        ...['/vo/b/run3/f1', '/vo/none'].flatMap((path) =>
          ['attributes', 'metadata'].map((what) => `${file(path)}/${what}`),
        ),
        '/filecatalogue/metadata',
        '/filecatalogue/directory',
      ];
      for (const path of refused)
        expect([path, ...told(await reader.get(path))]).toEqual([path, ...OUTSIDE]);
      expect(told(await reader.put(file('/vo/a/new'), { json: { Size: 1 } }))).toEqual(OUTSIDE);
      expect(told(await reader.get('/jobs'))).toEqual(OUTSIDE);
    });

    it('storage.create makes what is not there, and changes nothing', async () => {
      const maker = grid.bearer(await tokenOf(grid, 'storage.create:/vo/shared/made'));
      const json = { Size: 7, Checksum: 'abcd' };
      expect((await maker.put(file('/vo/shared/made/f'), { json })).status).toBe(201);
      expect((await maker.put(file('/vo/shared/made/f'), { json })).status).toBe(200);
      expect((await maker.get(`${file('/vo/shared/made/f')}/attributes`)).status).toBe(200);
      expect((await maker.post(directory('/vo/shared/made/d'), { json: {} })).status).toBe(201);
      expect((await maker.post(directory('/vo/shared'), { json: {} })).status).toBe(200);
      const refused = [
        await maker.post(directory('/vo/shared'), { json: { Mode: 0o700 } }),
        await maker.post(directory('/vo/shared/madeup'), { json: {} }),
        await maker.post(directory('/vo/shared/made/d'), { json: { Mode: 0o700 } }),
        await maker.put(file('/vo/shared/made/f'), { json: { ...json, Replicas: { 'SE-A': {} } } }),
        await maker.put(file('/vo/shared/other'), { json }),
        await maker.delete(file('/vo/shared/made/f')),
        await maker.delete(directory('/vo/shared/made/d')),
        await maker.patch(`${file('/vo/shared/made/f')}/metadata`, { json: { free: 'x' } }),
        await maker.put(`${directory('/vo/shared/made/d')}/metadata`, { json: {} }),
        await maker.post('/filecatalogue/metadata', { json: { name: 'mine', type: 'int' } }),
        await maker.get(directory('/vo/shared/made')),
        await maker.get(`${file('/vo/shared/made/f')}/metadata`),
      ];
      expect(refused.map(told)).toEqual(refused.map(() => OUTSIDE));
    });

    it('storage.modify changes and deletes below its path, in bulk too', async () => {
      const writer = grid.bearer(await tokenOf(grid, 'storage.modify:/vo/shared/deep'));
      expect((await writer.put(file('/vo/shared/deep/f'), { json: { Size: 7 } })).status).toBe(201);
      const metadata = `${file('/vo/shared/deep/f')}/metadata`;
      expect((await writer.patch(metadata, { json: { free: 'x' } })).status).toBe(200);
      expect((await writer.delete(file('/vo/shared/deep/f'))).status).toBe(200);
      const lines = [
        { kind: 'file', path: '/vo/shared/deep/g', size: 1 },
        { kind: 'file', path: '/vo/shared/g', size: 1 },
        { kind: 'field', name: 'mine', type: 'int' },
      ];
      const { status, body } = await writer.post('/filecatalogue/bulk', {
        body: lines.map((line) => JSON.stringify(line)).join('\n'),
        headers: { 'content-type': 'application/x-ndjson' },
      });
      const said = String(body)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(status).toBe(200);
      expect(said).toEqual([
        expect.objectContaining({ line: 2, status: 403 }),
        expect.objectContaining({ line: 3, status: 403 }),
        expect.objectContaining({ lines: 3, created: 1, failed: 2 }),
      ]);
    });

    it('stage looks at attributes, poll at nothing here; beside catalogue:read nothing is narrowed', async () => {
      const path = `${file('/vo/a/run1/f1')}/attributes`;
      const seen = async (scope: string) =>
        (await grid.bearer(await tokenOf(grid, scope)).get(path)).status;
      const plain = await seen('catalogue:read');
      expect([200, 404]).toContain(plain);
      expect(await seen('storage.stage:/vo/a')).toBe(plain);
      expect(await seen('storage.poll:/vo/a')).toBe(403);
      const both = grid.bearer(await tokenOf(grid, 'catalogue:read storage.read:/vo/a'));
      expect((await both.get(directory('/vo/b'))).status).toBe(200);
      expect(told(await both.put(file('/vo/a/x'), { json: { Size: 1 } }))).toEqual(OUTSIDE);
    });
  });

  it('asks the user with the paths in words, and the page names no more than is asked', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const scope = 'storage.read:/vo/shared compute.read wlcg.groups wlcg';
    const { body } = await visitor.open(authorizePath({ scope }));
    expect(
      String(body)
        .match(/<li>.*<\/li>/g)
        ?.join(''),
    ).toBe(
      '<li>Read files in /vo/shared</li><li>See your jobs and their output</li>' +
        '<li>Show that you are a member of the group that you choose</li>' +
        '<li>Act for you at other services of the grid</li>',
    );
    const { code } = await allow(grid, 'alice', { parameters: { scope } });
    const tokens = await exchange(grid, code);
    expect(tokens.body.scope).toBe('storage.read:/vo/shared compute.read wlcg.groups wlcg');
  });

  it('announces what can be asked for', async () => {
    const { body } = await grid.anonymous.get('/.well-known/oauth-authorization-server');
    expect(body.scopes_supported).toEqual([
      ...['jobs:read', 'jobs:submit', 'jobs:kill', 'catalogue:read', 'catalogue:write'],
      'webhooks',
      ...['compute.read', 'compute.create', 'compute.modify', 'compute.cancel'],
      ...['wlcg', 'wlcg.groups'],
      ...[
        'storage.read:/',
        'storage.create:/',
        'storage.modify:/',
        'storage.stage:/',
        'storage.poll:/',
      ],
      ...['openid', 'profile', 'email', 'offline_access'],
    ]);
  });
});
