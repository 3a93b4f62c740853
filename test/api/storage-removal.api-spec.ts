import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { GridClient as Client, moveFile } from '#src/client/index.js';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { AuditTrail } from '../support/audit-trail.js';
import { bulk } from '../support/catalogue/events.js';
import { routes } from '../support/catalogue/http-catalogue.js';
import { CommandUser } from '../support/command.js';
import { adlerOf, KeepingStorage } from '../support/storage/keeping-storage.js';
import {
  eventually,
  startGrid,
  type Answer,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const TEXT = 'bytes of the file';
const ADLER32 = adlerOf(Buffer.from(TEXT));
const MD5 = createHash('md5').update(TEXT).digest('hex');

describe('bytes that are removed from storage elements', () => {
  const stores = {
    ...{ a: new KeepingStorage(), b: new KeepingStorage() },
    ...{ kept: new KeepingStorage(), s3: new KeepingStorage() },
  };
  const { a, b, kept, s3 } = stores;
  let directory: string;
  let grid: Grid;
  let alice: GridClient;
  let bob: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-removal-'));
    const keys = join(directory, 'keys');
    const secret = 'aws_access_key_id = id\naws_secret_access_key = secret\n';
    await writeFile(keys, secret, { mode: 0o600 });
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const url = (await s3.start()).replace('/vo', '/b');
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav },
      { name: 'SE-KEEPS', url: await kept.start(), ...webdav, removes: false },
      { name: 'SE-S3', url, kind: 's3', vos: ['vo'], credentialsFile: keys },
    ] as const;
    const path = join(directory, 'r.yaml');
    await writeFile(path, writeRegistryFile({ ...DEMO_REGISTRY, storageElements }));
    grid = await startGrid({
      env: { GRID_REGISTRY: path, GRID_REGISTRY_SYNC: 'true', GRID_STORAGE_TIMEOUT: '60' },
    });
    alice = await grid.as('alice');
    bob = await grid.as('bob', 'grid_share');
    await bulk(await grid.as('fred'), { kind: 'directory', path: '/vo/in', mode: 0o777 });
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all(Object.values(stores).map((store) => store.stop()));
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    for (const store of Object.values(stores)) store.reset();
    await grid.sql('delete from catalogue_bytes');
  });

  const create = (client: GridClient, paths: string[], more: object = {}): Promise<Answer> =>
    client.post('/filecatalogue/access', { json: { paths, right: 'create', ...more } });
  const put = async ({ body: [file] }: Answer, body: string | ReadableStream = TEXT) => {
    const { url, presigned, headers } = file as Record<'url' | 'presigned', string> & {
      headers: Record<string, string>;
    };
    const init = { method: 'PUT', headers, body: body as string, duplex: 'half' as const };
    return (await fetch(presigned ?? url, init)).status;
  };
  const finish = (client: GridClient, path: string, more: object = {}): Promise<Answer> =>
    client.put(routes.file(path), {
      json: { Size: TEXT.length, Checksum: ADLER32, SE: 'SE-A', ...more },
    });
  const upload = async (path: string, se = 'SE-A'): Promise<void> => {
    expect(await put(await create(alice, [path], { se }))).toBe(201);
    expect((await finish(alice, path, { SE: se })).status).toBe(201);
  };
  /** The storage answers nothing before it is told to go on. */
  const heldUp = (storage: KeepingStorage): { isAsked: Promise<void>; goOn: () => void } => {
    let answer = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => {
      storage.play((response, request) => {
        answer = () => storage.keep(response, request);
        resolve();
      });
    });
    return { isAsked, goOn: () => answer() };
  };
  const told = ({ status, body }: Answer): unknown[] => [status, body.code, body.detail];
  const held = (path: string) =>
    grid.sql<{ state: string; removals: number; wait: number }>(
      `select state, removals, extract(epoch from due_at - now())::integer as wait
       from catalogue_bytes where path = '${path}'`,
    );
  const due = (path: string) =>
    grid.sql(`update catalogue_bytes set due_at = now() where path like '${path}'`);
  const gone = (path: string) =>
    eventually(async () => (await held(path)).length === 0, `the removal of ${path}`);
  const removed = (path: string): Answer['body'] => [
    ...[409, 'catalogue.being-removed', `The bytes of ${path} are being removed`],
  ];

  it('are never those that lay there before', async () => {
    const path = '/vo/in/older';
    a.kept.set(path, Buffer.from(TEXT));
    expect(told(await create(bob, ['/vo/in/beside', path]))).toEqual([
      ...[409, 'catalogue.exists', `Something lies at SE-A where ${path} would be`],
    ]);
    expect([await held(path), await held('/vo/in/beside')]).toEqual([[], []]);
    expect((await finish(bob, path)).body.code).toBe('storage.differs');
    a.isAway = true;
    const away = await create(bob, ['/vo/in/away']);
    expect([away.status, away.body.detail]).toEqual([
      503,
      expect.stringContaining('SE-A does not'),
    ]);
    expect(await held('/vo/in/away')).toEqual([]);
    a.isAway = false;
    // The service was killed before it had looked: nobody was let in.
    a.kept.delete(path);
    await create(bob, [path]);
    a.kept.set(path, Buffer.from(TEXT));
    await grid.sql('update catalogue_bytes set removals = 0');
    expect((await finish(bob, path)).body.code).toBe('storage.differs');
    await due(path);
    await gone(path);
    expect(a.kept.get(path)?.toString()).toBe(TEXT);
  });

  it('are those of a file that is deleted, when nobody may write them any more', async () => {
    const [path, other, inside] = ['/vo/in/f', '/vo/in/g', '/vo/in/d/f'];
    for (const each of [path, other, inside]) await upload(each);
    const deleted = await alice.delete(routes.file(path));
    expect([deleted.status, deleted.body]).toEqual([200, { path, deleted: true, removing: true }]);
    await bulk(
      alice,
      { kind: 'file', path: other, op: 'delete' },
      { kind: 'file', path: inside, op: 'delete' },
      { kind: 'directory', path: '/vo/in/d', op: 'delete' },
    );
    for (const each of [path, other, inside]) {
      const [row] = await held(each);
      expect([row?.state, row?.removals]).toEqual(['removing', 1]);
      expect(row?.wait).toBeGreaterThan(3_700);
      expect(row?.wait).toBeLessThanOrEqual(3_720);
      expect(told(await create(bob, [each]))).toEqual(removed(each));
      expect(told(await finish(bob, each, { SE: undefined }))).toEqual(removed(each));
    }
    // Nor may a file come where the directory was.
    const below = [409, 'catalogue.being-removed'];
    const text = 'Bytes of files that were in /vo/in/d are being removed';
    expect(told(await create(bob, ['/vo/in/d']))).toEqual([...below, text]);
    expect(told(await finish(bob, '/vo/in/d', { SE: undefined }))).toEqual([...below, text]);
    expect((await bob.post(routes.directory('/vo/in/d'))).status).toBe(201);
    expect(a.kept.has(path)).toBe(true);
    await due('/vo/in/%');
    for (const each of [path, other, inside]) await gone(each);
    expect([...a.kept.keys()].filter((one) => one !== '/vo/in/older')).toEqual([]);
    await upload(path);
    // A file that was registered long ago is removed at once.
    await grid.sql(`update catalogue_file set created_at = now() - interval '2 hours'`);
    await alice.delete(routes.file(path));
    await gone(path);
    expect(a.kept.has(path)).toBe(false);
  });

  it('stay where the element keeps them, or came otherwise', async () => {
    const path = '/vo/in/kept';
    await upload(path, 'SE-KEEPS');
    expect((await alice.delete(routes.file(path))).body).toEqual({ path, deleted: true });
    expect(await held(path)).toEqual([]);
    expect(kept.kept.has(path)).toBe(true);
    const json = { Size: 1, Replicas: { 'SE-A': {} } };
    expect((await alice.put(routes.file('/vo/in/named'), { json })).status).toBe(201);
    expect((await alice.delete(routes.file('/vo/in/named'))).body.removing).toBeUndefined();
  });

  it('are not forgotten when their element has left the registry', async () => {
    const path = '/vo/in/left';
    await upload(path, 'SE-B');
    const [element] = await grid.sql<{ url: string; position: number }>(
      `delete from registry_storage_element where name = 'SE-B' returning url, position`,
    );
    const deleted = await alice.delete(routes.file(path));
    expect([deleted.status, deleted.body]).toEqual([200, { path, deleted: true, removing: true }]);
    await due(path);
    const faults = () => grid.sql<{ fault: string }>('select fault from catalogue_bytes');
    const fault = await eventually(
      async () => (await faults())[0]?.fault || undefined,
      'the fault',
    );
    expect(fault).toBe(
      'SE-B has no address: add it to the registry again, with removes: false if its bytes are to stay',
    );
    await grid.sql(
      `insert into registry_storage_element (name, position, url, kind, vos, removes)
       values ('SE-B', $1, $2, 'webdav', '{vo}', false)`,
      [element?.position, element?.url],
    );
    await due(path);
    await gone(path);
    expect(b.kept.has(path)).toBe(true);
    await grid.sql(`update registry_storage_element set removes = null where name = 'SE-B'`);
  });

  it('are removed once more when they may have come late', async () => {
    const path = '/vo/in/slow';
    const answer = await create(alice, [path], { seconds: 60 });
    let end = (): void => undefined;
    const body = new ReadableStream({
      start(pieces) {
        pieces.enqueue(Buffer.from('bytes of '));
        end = () => {
          pieces.enqueue(Buffer.from('the file'));
          pieces.close();
        };
      },
    });
    const putting = put(answer, body);
    await due(path);
    await eventually(async () => (await held(path))[0]?.removals === 1, 'the first removal');
    end();
    expect([await putting, a.kept.has(path)]).toEqual([201, true]);
    expect((await held(path))[0]?.wait).toBeGreaterThan(3_700);
    expect(told(await create(bob, [path]))).toEqual(removed(path));
    await due(path);
    await gone(path);
    expect(a.kept.has(path)).toBe(false);
  });

  it('keep no other element from its work, and cost nothing while theirs is away', async () => {
    const { log } = new AuditTrail(grid);
    const many = Array.from({ length: 40 }, (_, index) => `/vo/in/hang-${index}`);
    await create(alice, [...many]);
    await create(alice, ['/vo/in/quick'], { se: 'SE-B' });
    await grid.sql('update catalogue_bytes set removals = 1');
    a.play(() => undefined);
    await due('/vo/in/hang%');
    await eventually(
      async () => (await held(many[0] ?? '')) && a.asked.length > 0,
      'the first attempt',
    );
    await due('/vo/in/quick');
    await gone('/vo/in/quick');
    expect(a.asked.length).toBe(2);
    a.isAway = true;
    for (const { socket } of a.asked) socket.destroy();
    a.reset();
    a.isAway = true;
    const tried = () => grid.sql(`select from catalogue_bytes where tries > 0`);
    await eventually(async () => (await tried()).length === 2, 'the fault');
    const waiting = await grid.sql(
      `select from catalogue_bytes where due_at <= now() and state = 'arriving'`,
    );
    expect(waiting).toHaveLength(38);
    const { body } = await grid.anonymous.get<string>('/metrics');
    expect(body).toContain('gridgate_storage_removals{state="failing"} 2');
    expect(body).toContain('gridgate_storage_removals{state="arriving"} 38');
    const warning = 'bytes at a storage element could not be removed';
    expect(await log.line(({ msg }) => msg === warning)).toMatchObject({
      ...{ level: 'warn', se: 'SE-A', path: expect.stringContaining('/vo/in/hang-') },
      fault: expect.stringContaining('SE-A does not answer'),
    });
    a.isAway = false;
    for (const path of many) await gone(path);
  });

  it('are those of an upload that its holder ends', async () => {
    const path = '/vo/in/ended';
    await put(await create(alice, [path]));
    expect((await bob.delete(routes.file(path))).status).toBe(404);
    expect((await alice.delete(routes.file(path))).body).toEqual({
      ...{ path, deleted: true, removing: true },
    });
    expect((await alice.delete(routes.file(path))).status).toBe(404);
    expect((await finish(alice, path)).body.code).toBe('storage.differs');
    await eventually(async () => (await held(path))[0]?.removals === 1, 'the first removal');
    expect(a.kept.has(path)).toBe(false);
  });

  it('are let in again by the answer to the same request', async () => {
    const path = '/vo/in/lost-answer';
    await put(await create(alice, [path], { seconds: 1 }));
    const again = await create(alice, [path]);
    expect([again.status, (await held(path))[0]?.wait]).toEqual([200, expect.any(Number)]);
    expect((await held(path))[0]?.wait).toBeGreaterThan(900);
    const uploaded = [409, 'catalogue.exists', `${path} is being uploaded`];
    expect(told(await create(alice, [path, path]))).toEqual(uploaded);
    expect(told(await create(alice, [path], { se: 'SE-B' }))).toEqual(uploaded);
    expect(told(await create(alice, [path], { contents: [{ size: 2 }] }))).toEqual(uploaded);
    expect(told(await create(bob, [path]))).toEqual(uploaded);
    expect((await finish(alice, path)).status).toBe(201);
  });

  it('are compared at S3 by what was read of them, or by the MD5 that was signed', async () => {
    const contents = [{ size: TEXT.length, md5: MD5 }];
    const at = { se: 'SE-S3', contents };
    const sent = async (path: string) => {
      expect(await put(await create(alice, [path], at))).toBe(201);
      return (more: object) => finish(alice, path, { SE: 'SE-S3', ...more });
    };
    const first = await sent('/vo/in/s3-a');
    expect(told(await first({ Checksum: '00000001' }))).toEqual([
      ...[409, 'storage.differs'],
      `SE-S3 has bytes with the Adler32 ${ADLER32}, not 00000001, of /vo/in/s3-a`,
    ]);
    expect((await first({ Checksum: 'ff', ChecksumType: 'SHA1' })).status).toBe(400);
    expect((await first({})).status).toBe(201);
    const second = await sent('/vo/in/s3-b');
    const other = { Checksum: MD5.replace(/^./, 'f'), ChecksumType: 'MD5' };
    expect((await second(other)).body.detail).toContain(`has bytes with the MD5 ${MD5}, not`);
    s3.asked.length = 0;
    expect((await second({ Checksum: MD5, ChecksumType: 'MD5' })).status).toBe(201);
    expect(s3.asked.map(({ method }) => method)).toEqual(['HEAD']);
    s3.play((response) => void response.writeHead(404).end());
    await create(alice, ['/vo/in/s3-c'], at);
    s3.play((response) => void response.writeHead(200, { 'content-length': 2 ** 30 + 1 }).end());
    const large = { SE: 'SE-S3', Size: 2 ** 30 + 1 };
    expect((await finish(alice, '/vo/in/s3-c', large)).body.detail).toContain(
      'Checksum: of more than 1 GiB there must be the MD5',
    );
  });

  it('are at most ten thousand of a user, those that are being removed among them', async () => {
    const paths = Array.from({ length: 6 }, (_, index) => `/vo/in/crowd/${index}`);
    await create(alice, ['/vo/in/crowd/first']);
    await grid.sql(`insert into catalogue_bytes (state, path, owner_id, se_id, due_at)
      select 'removing', '/vo/in/many/' || n, owner_id, se_id, now() + interval '1 hour'
      from catalogue_bytes, generate_series(1, 9996) n`);
    const answers = await Promise.all(paths.map((path) => create(alice, [path])));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429]);
    const [row] = await grid.sql('select count(*)::integer as n from catalogue_bytes');
    expect(row).toEqual({ n: 10_000 });
  });

  it('are of no reservation but the one for which somebody has looked', async () => {
    const path = '/vo/in/raced';
    b.kept.set(path, Buffer.from('of somebody'));
    const there = heldUp(a);
    const first = create(alice, [path], { se: 'SE-A' });
    await there.isAsked;
    expect((await alice.delete(routes.file(path))).status).toBe(200);
    await gone(path);
    const elsewhere = heldUp(b);
    const second = create(alice, [path], { se: 'SE-B' });
    await elsewhere.isAsked;
    there.goOn();
    expect((await first).status).toBe(503);
    elsewhere.goOn();
    expect((await second).body.code).toBe('catalogue.exists');
    expect(await held(path)).toEqual([]);
    expect(b.kept.get(path)?.toString()).toBe('of somebody');
  });

  it('are not those of a file that would get another path', async () => {
    const path = '/vo/in/moved';
    await upload(path);
    const agent = new Agent({ connect: { ca: grid.ca } });
    const platformFetch = ((input: string, init: object) =>
      fetch(input, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch;
    const token = await grid.token('alice', 'grid_user');
    const client = new Client({ url: `${grid.url}/`, token, fetch: platformFetch });
    await expect(moveFile(client, path, '/vo/in/elsewhere')).rejects.toMatchObject({
      ...{ status: 409, code: 'catalogue.exists' },
      message: expect.stringContaining(`${path} lies at SE-A by its path`),
    });
    await agent.destroy();
    const seen = (at: string) => alice.get(`${routes.file(at)}/attributes`);
    expect((await seen(path)).status).toBe(200);
    expect((await seen('/vo/in/elsewhere')).status).toBe(404);
    expect(await held(path)).toEqual([]);
  });

  it('are listed by the command, which gives them up', async () => {
    const user = new CommandUser(directory);
    const run = (...words: string[]) =>
      user.run(['storage', ...words], { GRID_HOME: grid.home, DATABASE_URL: grid.database.url });
    const path = '/vo/in/listed';
    await upload(path);
    expect((await alice.delete(routes.file(path))).status).toBe(200);
    const list = await run('list', '--json');
    expect(JSON.parse(list.stdout).elements).toMatchObject([
      { name: 'SE-A', kind: 'webdav', vos: ['vo'], waiting: 1, failing: 0 },
      { name: 'SE-B', waiting: 0 },
      { name: 'SE-KEEPS' },
      { name: 'SE-S3', kind: 's3' },
    ]);
    expect((await run('removals', '--failing', '-o', 'name')).stdout).toBe('');
    a.isAway = true;
    await due(path);
    const isFailing = async () => (await run('removals', '--failing', '-o', 'name')).stdout !== '';
    await eventually(isFailing, 'the removal to fail');
    const failing = await run('removals', '--se', 'SE-A', '--json');
    expect(JSON.parse(failing.stdout).removals).toEqual([
      {
        ...{ path, se: 'SE-A', tries: 1, fault: expect.stringContaining('SE-A does not') },
        ...{ since: expect.any(String), next: expect.any(String) },
      },
    ]);
    expect((await run('removals', '--se', 'SE-B', '-o', 'name')).stdout).toBe('');
    const unknown = await run('removals', '--se', 'SE-a');
    expect([unknown.code, unknown.stderr]).toEqual([
      ...[2, 'gridgate: There is no storage element SE-a\n'],
    ]);
    const given = await run('give-up', path, 'SE-A');
    expect([given.code, given.stdout]).toEqual([0, `the bytes of ${path} stay at SE-A\n`]);
    const again = await run('give-up', path, 'SE-A');
    const text = `Nothing is to be removed at SE-A for ${path}, or it is being removed now`;
    expect([again.code, again.stderr]).toEqual([2, `gridgate: ${text}\n`]);
    expect(a.kept.has(path)).toBe(true);
  });
});
