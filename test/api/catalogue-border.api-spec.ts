import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEMO_REGISTRY,
  writeRegistryFile,
  type Group,
  type Property,
} from '#src/registry/index.js';
import { MoveService } from '../../src/file-catalogue/moves/move.service.js';
import { bulk, EVENTS, position, since } from '../support/catalogue/events.js';
import { ASKS, LINES, told } from '../support/catalogue/hidden.js';
import { routes } from '../support/catalogue/http-catalogue.js';
import { onDatabaseOf } from '../support/database-of.js';
import { silentLog } from '../support/silent-log.js';
import { eventually, type Answer, type Grid, type GridClient } from '../support/testbed.js';
import { WebhookTestbed } from '../support/webhook-testbed.js';

/** An organisation of which strangers must see nothing: its name is that of nothing else. */
const FOREIGN = 'zq7-org';
const NDJSON = { headers: { accept: 'application/x-ndjson' } };

function group(
  name: string,
  vo: string | undefined,
  more: Property[],
  ...members: string[]
): Group {
  const properties = new Set<Property>(['NormalUser', ...more]);
  return { name, ...(vo !== undefined && { vo }), properties, members, idpScopes: [] };
}

/** Beside the groups of `vo` those of another organisation, of one without a directory, and some without any. */
const GROUPS = [
  group('zq7_user', FOREIGN, [], 'carol', 'bob'),
  group('zq7_lead', FOREIGN, [], 'mona'),
  group('zq7_fc', FOREIGN, ['FileCatalogManagement'], 'fred'),
  group('empty_user', 'zq7-empty', [], 'carol'),
  group('free_user', undefined, [], 'bob'),
  group('free_mon', undefined, ['JobMonitor'], 'mona'),
  group('service', 'vo', ['ServiceAdministrator'], 'adam'),
];

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gridgate-border-'));
  const groups = [...DEMO_REGISTRY.groups, ...GROUPS];
  await writeFile(join(directory, 'r.yaml'), writeRegistryFile({ ...DEMO_REGISTRY, groups }));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function start(value: 'vo' | 'true' | 'false'): Promise<WebhookTestbed> {
  const bed = await WebhookTestbed.start({
    GRID_CATALOGUE_GLOBAL_READ: value,
    GRID_REGISTRY: join(directory, 'r.yaml'),
    GRID_REGISTRY_SYNC: 'true',
  });
  const { grid } = bed;
  for (const table of ['segment', 'value', 'field', 'file', 'delta']) {
    await grid.sql(`delete from catalogue_${table}`);
  }
  await grid.sql('delete from catalogue_directory where parent is not null');
  await grid.sql('update catalogue_directory set sub_files = 0, sub_bytes = 0');
  await bulk(
    await grid.as('fred'),
    { kind: 'field', name: 'project', type: 'string' },
    { kind: 'directory', path: `/${FOREIGN}`, owner: 'carol', group: 'zq7_user', mode: 0o777 },
    { kind: 'directory', path: '/vo', owner: 'alice', group: 'grid_user', mode: 0o777 },
    { kind: 'directory', path: '/common', mode: 0o777 },
    // A file of the root whose name is that of the organisation without a directory.
    { kind: 'file', path: '/zq7-empty', size: 1_000 },
  );
  await bulk(
    await grid.as('carol', 'zq7_user'),
    { kind: 'directory', path: `/${FOREIGN}/run`, mode: 0o777, metadata: { project: 'zq7-value' } },
    { kind: 'file', path: `/${FOREIGN}/plan`, size: 100, metadata: { note: 'zq7' } },
    { kind: 'file', path: `/${FOREIGN}/run/plan`, size: 100, replicas: [{ se: 'SE-A' }] },
    { kind: 'directory', path: `/${FOREIGN}/own`, mode: 0o700 },
    { kind: 'file', path: `/${FOREIGN}/own/plan`, size: 100 },
  );
  await bulk(
    await grid.as('alice'),
    { kind: 'directory', path: '/vo/run', metadata: { project: 'ours' } },
    { kind: 'file', path: '/vo/run/plan', size: 10 },
    { kind: 'file', path: '/common/plan', size: 1 },
  );
  return bed;
}

/** People to whom the organisation must be unknown: of another one, and of none. */
const STRANGERS = [
  ['alice', 'grid_user'],
  ['bob', 'grid_share'],
  ['bob', 'free_user'],
] as const;

describe.each(['vo', 'false'] as const)('with GRID_CATALOGUE_GLOBAL_READ=%s', (value) => {
  let bed: WebhookTestbed;
  let grid: Grid;
  let foreigner: GridClient;
  beforeAll(async () => {
    bed = await start(value);
    ({ grid } = bed);
    foreigner = await grid.as('carol', 'zq7_user');
  });
  afterAll(() => bed?.remove());

  describe.each(STRANGERS)('for %s in %s', (name, strangers) => {
    let client: GridClient;
    beforeAll(async () => {
      client = await grid.as(name, strangers);
    });

    const PLACES = [
      ['', ''],
      ['/run', '/run'],
      ['/own', '/run'],
      ['/nothing', '/nothing'],
    ] as const;

    describe.each(PLACES)(`%s below the directory of another organisation`, (there, nowhere) => {
      it.each(ASKS)('is like what is missing for %s', async (...[, method, path, options]) => {
        const ask = async (place: string): Promise<unknown> =>
          told(await client.call(method, path(place), options), place);
        const answer = await ask(`/${FOREIGN}${there}`);
        expect(answer).toEqual(await ask(`/missing${nowhere}`));
        expect([400, 403, 404]).toContain((answer as { status: number }).status);
      });

      it('is like what is missing for every line of a bulk', async () => {
        const ask = async (place: string): Promise<unknown> =>
          told(
            await client.post('/filecatalogue/bulk', {
              body: LINES.map((line) => JSON.stringify(line(place))).join('\n'),
              headers: { 'content-type': 'application/x-ndjson' },
            }),
            place,
          );
        expect(await ask(`/${FOREIGN}${there}`)).toEqual(await ask(`/missing${nowhere}`));
      });
    });

    it('it stands in no list, and counts in no total', async () => {
      const root = routes.directory('/');
      const asked: Answer<string>[] = [];
      const search = `${root}/search`;
      for (const path of [
        root,
        `${root}?verbose=true`,
        search,
        `${search}?project=nin%7Cnothing`,
        `${search}?project=in%7Czq7-value`,
        `${search}?project=in%7Cours`,
        `${root}/metadata`,
        `${root}/metadata?counts=true`,
        `${root}/metadata?maxValues=1`,
        '/filecatalogue/metadata',
        '/filecatalogue/metadata?maxValues=1',
        '/filecatalogue/metadata?maxValues=1&counts=true',
      ]) {
        asked.push(await client.get<string>(path), await client.get<string>(path, NDJSON));
      }
      for (let next: string | undefined = `${root}?limit=1`; next !== undefined;) {
        const page: Answer<string> = await client.get<string>(next);
        asked.push(page);
        const link: string | undefined = page.headers['link'] as string | undefined;
        next = link && /<([^>]*)>/.exec(link)?.[1]?.replace(/^https:\/\/[^/]*/, '');
      }
      for (const { status, bytes, headers } of asked) {
        expect([status, `${bytes.toString()}${JSON.stringify(headers)}`]).toEqual([
          200,
          expect.not.stringContaining('zq7'),
        ]);
      }
      const isMember = strangers !== 'free_user';
      const { body: tree } = await client.get(search);
      const { common, vo } = tree.d as Record<string, { f: number; s: number }>;
      expect([common, vo !== undefined]).toEqual([{ f: 1, s: 1 }, isMember]);
      expect([tree.f, tree.s]).toEqual([1 + (vo?.f ?? 0), 1 + (vo?.s ?? 0)]);
      expect((await client.get(`${root}/metadata`)).body).toEqual(
        isMember ? { project: ['ours'] } : {},
      );
      const counted = await client.get('/filecatalogue/metadata?maxValues=5&counts=true');
      expect(counted.body.project?.total).toBe(isMember ? 1 : undefined);
    });

    it('none of its files is looked up, nor found as input data', async () => {
      const paths = [`/${FOREIGN}/plan`, `/${FOREIGN}/run/plan`, '/zq7-empty', '/common/plan'];
      const { bytes } = await client.post('/filecatalogue/lookup', { json: { paths } });
      const found = bytes
        .toString()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).error?.code);
      const missing = 'catalogue.file-not-found';
      expect(found).toEqual([missing, missing, missing, undefined]);
      // Members of an organisation may name its own files only.
      if (strangers !== 'free_user') return;
      const json = { Executable: '/bin/true', InputData: paths };
      const { status, body } = await client.post('/jobs?dryRun=true', { json });
      expect([status, body]).toMatchObject([200, { warnings: expect.anything() }]);
      const warned = body.warnings.filter(
        ({ code }: { code: string }) => code === 'manifest.no-input-file',
      );
      expect(warned.map(({ pointer }: { pointer: string }) => pointer)).toEqual(
        [0, 1, 2].map((index) => `/InputData/${index}`),
      );
    });

    it('nothing of it is told, from the first event on', async () => {
      const events = await since(await grid.as('fred'), '0', { reader: client });
      expect(events).toContainEqual(['file', '/common/plan', 'created']);
      expect(JSON.stringify(events)).not.toContain('zq7');
      const prefixed = await client.get(`${EVENTS}?wait=0&after=0&prefix=/${FOREIGN}/run`);
      expect(prefixed.status).toBe(200);
      expect(prefixed.bytes.toString()).not.toContain('zq7');
    });

    it.each([`/${FOREIGN}`, `/${FOREIGN}/run`, `/${FOREIGN}/none`, '/zq7-empty', '/'])(
      'no token reaches %s',
      async (path) => {
        const scopes = ['read', 'modify'].map((right) => `storage.${right}:${path}`);
        const certificate = await grid.certificate(name);
        for (const scope of scopes) {
          const query = {
            ...{ grant_type: 'client_credentials', group: strangers, setup: 'Prod' },
            scope,
          };
          const answer = await certificate.get('/oauth2/token', { query });
          expect([scope, answer.status, answer.body.error]).toEqual([scope, 400, 'invalid_scope']);
        }
      },
    );
  });

  it('who may write in the root is told only that the name is taken, be there a directory or not', async () => {
    await grid.sql(`update catalogue_directory set mode = 511 where path = '/'`);
    const alice = await grid.as('alice');
    for (const name of [FOREIGN, 'zq7-empty']) {
      const answers = [
        await alice.post(routes.directory(`/${name}`)),
        await alice.post(routes.directory(`/${name}/deep/new`)),
        await alice.put(routes.file(`/${name}`), { json: { Size: 1 } }),
        await alice.put(routes.file(`/${name}/plan`), { json: { Size: 100 } }),
        await alice.put(routes.file(`/${name}/other`), { json: { Size: 1 } }),
      ];
      expect(answers.map(({ status, body }) => [status, body.code, body.detail])).toEqual(
        answers.map(() => [409, 'catalogue.exists', `/${name} is taken`]),
      );
      const gone = [
        await alice.delete(routes.directory(`/${name}`)),
        await alice.delete(routes.file(`/${name}`)),
        await alice.delete(routes.file(`/${name}/plan`)),
      ];
      expect(gone.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
    // Many new files at once go another way.
    const names = ['zq7-empty', FOREIGN, ...Array.from({ length: 100 }, (_, n) => `many${n}`)];
    const { bytes } = await alice.post('/filecatalogue/bulk', {
      body: names.map((at) => JSON.stringify({ kind: 'file', path: `/${at}`, size: 1 })).join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    const lines = bytes
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      expect.objectContaining({ line: 1, status: 409 }),
      expect.objectContaining({ line: 2, status: 409 }),
      expect.objectContaining({ created: 100, failed: 2 }),
    ]);
    await grid.sql(`delete from catalogue_file where name like 'many%'`);
    await grid.sql(`update catalogue_directory set mode = 493 where path = '/'`);
    const found = await foreigner.get(`${routes.file(`/${FOREIGN}/plan`)}/attributes`);
    expect([found.status, found.body.Size]).toEqual([200, 100]);
  });

  it('what moves across the border comes from nowhere, and has gone without a place', async () => {
    const [alice, admin] = [await grid.as('alice'), await grid.as('fred')];
    await bulk(admin, { kind: 'directory', path: `/${FOREIGN}/gift`, mode: 0o777 });
    const from = await position(admin);
    await onDatabaseOf(grid, async (database) => {
      const mover = new MoveService(database, silentLog());
      await mover.move(`/${FOREIGN}/gift`, '/vo/gift');
      await mover.move('/vo/gift', `/${FOREIGN}/gift`);
    });
    const [there, here] = [`/${FOREIGN}/gift`, '/vo/gift'];
    expect(await since(admin, from)).toEqual([
      ['directory', here, 'moved', there],
      ['directory', there, 'moved', here],
    ]);
    expect(await since(admin, from, { reader: alice })).toEqual([
      ['directory', here, 'moved'],
      ['directory', here, 'removed'],
    ]);
    expect(await since(admin, from, { reader: foreigner })).toEqual([
      ['directory', there, 'removed'],
      ['directory', there, 'moved'],
    ]);
  });

  it('a directory that is closed says nothing to strangers', async () => {
    const [alice, admin] = [await grid.as('alice'), await grid.as('fred')];
    await bulk(admin, { kind: 'directory', path: `/${FOREIGN}/door`, mode: 0o777 });
    const from = await position(admin);
    await bulk(admin, { kind: 'directory', path: `/${FOREIGN}/door`, mode: 0o700 });
    expect(await since(admin, from, { reader: alice })).toEqual([]);
  });

  it('no webhook of a stranger is called', async () => {
    const alice = await grid.as('alice');
    await bed.add(alice, { source: 'filecatalogue' });
    await bulk(foreigner, { kind: 'file', path: `/${FOREIGN}/told`, size: 1 });
    await bulk(alice, { kind: 'file', path: '/vo/run/told', size: 1 });
    await bed.received(1, ({ body }) => body.data['path'] === '/vo/run/told');
    expect(JSON.stringify(bed.receiver.messages.map(({ body }) => body))).not.toContain('zq7');
    await bed.reset();
  });

  it('members read of their own organisation what the value says', async () => {
    const isShared = value === 'vo';
    const member = await grid.as('mona', 'zq7_lead');
    const own = routes.directory(`/${FOREIGN}/own`);
    const answers = [
      await member.get(own),
      await member.get(`${own}/search`),
      await member.get(`${routes.file(`/${FOREIGN}/own/plan`)}/attributes`),
      await member.get(`${routes.file(`/${FOREIGN}/own/plan`)}/metadata?inherited=true`),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => (isShared ? 200 : 404)));
    // To write, the bits decide.
    const write = await member.put(routes.file(`/${FOREIGN}/own/new`), { json: { Size: 1 } });
    expect(write.status).toBe(isShared ? 403 : 409);
    const open = await member.get(`${routes.directory(`/${FOREIGN}`)}/search`);
    expect(open.body.d.own).toEqual(isShared ? { f: 1, s: 100 } : undefined);
    const top = await member.get(`${routes.directory('/')}/search`);
    expect(Object.keys(top.body.d).sort()).toEqual(['common', FOREIGN]);
  });

  it.each([
    ['mona', 'free_mon'],
    ['adam', 'service'],
    ['fred', 'grid_fc'],
  ] as const)('%s in %s reaches every organisation', async (name, group) => {
    const client = await grid.as(name, group);
    expect((await client.get(routes.directory('/'))).body.SubDirs).toMatchObject({
      ...{ [FOREIGN]: true, vo: true, common: true },
    });
    const found = await client.get(`${routes.file(`/${FOREIGN}/run/plan`)}/attributes`);
    expect(found.status).toBe(200);
    const own = await client.get(routes.directory(`/${FOREIGN}/own`));
    expect(own.status).toBe(value === 'vo' || name === 'fred' ? 200 : 404);
  });

  it('an organisation is a border from the moment on when the registry has it', async () => {
    const alice = await grid.as('alice');
    const common = routes.directory('/common');
    expect((await alice.get(common)).status).toBe(200);
    await grid.sql(`update registry_group set vo = 'common' where name = 'empty_user'`);
    const isClosed = async (): Promise<boolean> => (await alice.get(common)).status === 404;
    await eventually(isClosed, 'the border');
  });
});

describe('with GRID_CATALOGUE_GLOBAL_READ=true', () => {
  it('strangers read everything', async () => {
    const bed = await start('true');
    try {
      const bob = await bed.grid.as('bob', 'free_user');
      expect((await bob.get(routes.directory(`/${FOREIGN}/own`))).status).toBe(200);
      expect((await bob.get(`${routes.directory('/')}/search`)).body.d).toHaveProperty(FOREIGN);
    } finally {
      await bed.remove();
    }
  });
});
