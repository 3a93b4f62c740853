import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { FormData } from 'undici';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { awaitFinal, parametersOf, sandboxOf, show, submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { PlayedStorage } from '../support/storage/played-storage.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TEXT = 'bytes of the file\n'.repeat(1_000);
const ADLER = 'ad9386c1';
const MIB = 2 ** 20;
const LARGE = Buffer.alloc(3 * MIB, 7);
const FILE = 'dirac_job_input.json';

const half = (response: ServerResponse): unknown => response.end(TEXT.slice(0, 9_000));
const refuses = (status: number) => (response: ServerResponse) =>
  response.writeHead(status).end('no');

describe('files that are brought to a job', () => {
  const [a, b] = [new PlayedStorage(TEXT), new PlayedStorage(TEXT)];
  let directory: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-inputs-'));
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav },
      { name: 'SE-C' },
      { name: 'SE-ELSE', url: 'https://else.example.org/else', ...webdav, vos: ['else'] },
    ];
    const other = { name: 'else_user', vo: 'else', properties: new Set(['NormalUser'] as const) };
    const groups = [...DEMO_REGISTRY.groups, { ...other, members: ['carol'], idpScopes: [] }];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, groups, storageElements }));
    grid = await startGrid({
      env: {
        ...{ GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' },
        ...{ GRID_LOCAL_SLOTS: '2', GRID_JOB_DISK: String(MIB) },
      },
    });
    alice = await grid.as('alice');
    const file = { kind: 'file', size: TEXT.length, checksum: ADLER, checksumType: 'Adler32' };
    const sha256 = createHash('sha256').update(LARGE).digest('hex');
    const at = (...names: string[]) => ({ replicas: names.map((se) => ({ se })) });
    await bulk(
      alice,
      { ...file, path: '/vo/in/f1', ...at('SE-C', 'SE-B', 'SE-A') },
      { ...file, path: '/vo/in/deep/f1', ...at('SE-B') },
      { ...file, path: '/vo/in/f2', ...at('SE-A') },
      { ...file, path: '/vo/in/a b', ...at('SE-A') },
      { ...file, path: '/vo/in/named', ...at('SE-C') },
      { ...file, path: '/vo/in/alias', replicas: [{ se: 'SE-A', pfn: `${a.origin}/vo/in/f2` }] },
      {
        ...{ ...file, path: '/vo/in/foreign' },
        replicas: [{ se: 'SE-ELSE', pfn: 'https://else.example.org/else/f' }],
      },
      {
        ...{ kind: 'file', path: '/vo/in/large', size: LARGE.length },
        ...{ checksum: sha256, checksumType: 'SHA256', ...at('SE-A') },
      },
    );
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([a.stop(), b.stop()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => [a, b].forEach((storage) => storage.play()));

  const shell = (command: string, ...InputData: string[]): object => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', command] },
    ...(InputData.length > 0 && { InputData }),
  });
  const run = async (manifest: object) => {
    const [jid = 0] = await submit(alice, [manifest]);
    const [job] = await awaitFinal(alice, [jid]);
    return { jid, ...job };
  };
  const untilAsked = () =>
    eventually(() => Promise.resolve(a.asked.length > 0 || undefined), 'the storage to be asked');
  const outputOf = async (jid: number) => (await sandboxOf(alice, jid))['std.out'] ?? '';

  it('are there by their last names, those of one name by their paths', async () => {
    const command = `pwd; find . -type f | sort | xargs -d '\\n' cksum; cat ${FILE}; env`;
    const { jid, status } = await run({
      ...shell(command, 'LFN:/vo/in/f1', '/vo/in/deep/f1', '/vo/in/f2', '/vo/in/a b'),
      OutputSandbox: '.',
    });
    expect(status).toBe('Done');
    const [work = '', ...lines] = (await outputOf(jid)).split('\n');
    const names = ['a b', FILE, 'f2', 'vo/in/deep/f1', 'vo/in/f1'].map((name) => `./${name}`);
    expect(lines.slice(0, 5).map((line) => line.split(' ').slice(2).join(' '))).toEqual(names);
    const told = JSON.parse(lines[5] ?? '');
    const file = { size_bytes: TEXT.length, checksum: { adler32: ADLER } };
    expect(told['LFN:/vo/in/f1']).toEqual({
      ...file,
      replicas: [
        { url: `file://${work}/vo/in/f1`, se: 'SE-A' },
        { url: `${a.origin}/vo/in/f1`, se: 'SE-A' },
        { url: `${b.origin}/vo/in/f1`, se: 'SE-B' },
      ],
    });
    expect(told['LFN:/vo/in/a b'].replicas[0].url).toBe(`file://${work}/a%20b`);
    // What opens them is neither in the environment nor among the files, and what was brought is no output.
    expect(lines.join('\n')).not.toContain('eyJ');
    expect(Object.keys(await sandboxOf(alice, jid)).sort()).toEqual([FILE, 'std.err', 'std.out']);
    expect(await parametersOf(alice, jid)).not.toHaveProperty('OutputNotRequested');
    const [claims] = b.claims;
    expect(claims).toMatchObject({
      ...{ preferred_username: 'alice', aud: b.origin, client_id: 'gridgate-storage' },
      scope: 'storage.read:/vo/in/f1 storage.read:/vo/in/deep/f1',
    });
    const { body } = await alice.get(`/jobs/${jid}/history`);
    const minors = body.history.map((one: { minorStatus: string }) => one.minorStatus);
    expect(minors.indexOf('Input Data Resolution')).toBe(
      minors.indexOf('Job Received by Agent') + 1,
    );
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['half of it', half],
    ['other bytes', (response) => response.end(TEXT.replace('bytes', 'bytEs'))],
    ['more', (response) => response.end(`${TEXT}x`)],
    ['404', refuses(404)],
    ['403', refuses(403)],
    ['500', refuses(500)],
    ['nothing', (response) => response.destroy()],
  ])('come from the next storage element where one answers %s', async (_what, play) => {
    a.play(play);
    const { jid, status } = await run(shell('cat f1', '/vo/in/f1'));
    expect([status, await outputOf(jid)]).toEqual(['Done', TEXT]);
    expect([a.asked.length, b.asked.length]).toEqual([1, 1]);
  });

  it('are waited for while their storage is away', async () => {
    let answers = 0;
    a.play((response, request) => {
      answers += 1;
      if (answers > 2) a.serve(response, request);
      else response.writeHead(503).end();
    });
    const { jid, status } = await run(shell('cat f2', '/vo/in/f2'));
    expect([status, await outputOf(jid), answers]).toEqual(['Done', TEXT, 3]);
  });

  it('fail the job where no storage element has what the catalogue knows', async () => {
    a.play(half);
    b.play(refuses(404));
    expect(await run(shell('cat f1', '/vo/in/f1'))).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Input Data Resolution' },
      appStatus: '/vo/in/f1: SE-A: it has 9000 of 18000 bytes; SE-B: it answers 404',
    });
  });

  it('are given up when the job is killed', async () => {
    const closed = new Promise<void>((resolve) =>
      a.play((response) => {
        response.writeHead(200, { 'content-length': TEXT.length });
        response.write(TEXT.slice(0, 100));
        response.on('close', resolve);
      }),
    );
    const [jid = 0] = await submit(alice, [shell('cat f2', '/vo/in/f2')]);
    await untilAsked();
    expect(await show(alice, jid)).toMatchObject({
      ...{ status: 'Matched', minorStatus: 'Input Data Resolution' },
    });
    await alice.delete(`/jobs/${jid}`);
    await closed;
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Killed' }]);
    await eventually(async () => {
      const [job] = await grid.sql('select executor from jobs where jid = $1', [jid]);
      return (job?.executor ?? null) === null || undefined;
    }, 'the run to be let go of');
  });

  it('are fetched anew by a worker that was killed meanwhile', async () => {
    a.play((response) => void response.writeHead(200).write(TEXT.slice(0, 100)));
    const [jid = 0] = await submit(alice, [shell('cat f2', '/vo/in/f2')]);
    await untilAsked();
    a.play();
    await grid.killOwnWorker();
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    expect(await outputOf(jid)).toBe(TEXT);
  });

  it('count for nothing in the limit of the disk', async () => {
    a.play((response) => response.end(LARGE));
    const { jid, status } = await run(shell('sleep 3; wc -c < large', '/vo/in/large'));
    expect([status, await outputOf(jid)]).toEqual(['Done', `${LARGE.length}\n`]);
    a.play((response) => response.end(LARGE));
    expect(
      await run(shell('head -c 2000000 large > more; sleep 60', '/vo/in/large')),
    ).toMatchObject({ status: 'Failed', appStatus: 'Used more than 1 MiB of disk' });
  });

  it('may be named in the sandbox; one that cannot be had fails the job', async () => {
    const manifest = { ...shell('cat f2; ls'), InputSandbox: ['LFN:/vo/in/f2'] };
    const { jid, status } = await run(manifest);
    expect([status, await outputOf(jid)]).toEqual(['Done', `${TEXT}f2\n`]);
    const { status: code, body } = await alice.post('/jobs', {
      json: { ...shell('ls'), InputSandbox: ['LFN:/vo/in/none', 'LFN:/vo/in/named'] },
    });
    expect([code, body.warnings]).toEqual([
      200,
      [
        {
          code: 'manifest.no-input-file',
          ...{ detail: '/vo/in/none is not in the catalogue', pointer: '/InputSandbox/0' },
        },
        {
          code: 'manifest.input-not-brought',
          detail:
            '/vo/in/named is not brought to the job: no replica of it lies at the address of a storage element',
          pointer: '/InputSandbox/1',
        },
      ],
    ]);
    expect(await awaitFinal(alice, body.jids)).toMatchObject([
      {
        ...{ status: 'Failed', minorStatus: 'Failed Downloading InputSandbox LFN(s)' },
        appStatus: '/vo/in/none not in the catalogue',
      },
    ]);
    const wrong = ['LFN:/else/f', 'LFN:/vo/../else/f', 'lfn:/vo/x'];
    const refused = await alice.post('/jobs', { json: { ...shell('ls'), InputSandbox: wrong } });
    expect([refused.status, refused.body.violations]).toEqual([
      400,
      [
        { field: 'InputSandbox', problem: 'LFN:/else/f: must lie under /vo/' },
        { field: 'InputSandbox', problem: 'LFN:/vo/../else/f: contains . or ..' },
        { field: 'InputSandbox', problem: 'lfn:/vo/x: must start with LFN:/' },
      ],
    ]);
  });

  it('never stand in the place of uploaded ones', async () => {
    const multipart = new FormData();
    multipart.append('manifest', JSON.stringify(shell('cat f2; cat vo/in/f2', '/vo/in/f2')));
    multipart.append('file', new Blob(['mine\n']), 'f2');
    const { body } = await alice.post<{ jids: number[] }>('/jobs', { multipart });
    const [jid = 0] = body.jids;
    await awaitFinal(alice, [jid]);
    expect(await outputOf(jid)).toBe(`mine\n${TEXT}`);
  });

  it('are only those that lie at an address; the job is told of the others', async () => {
    const { status, body } = await alice.post('/jobs', {
      json: shell(`ls; cat ${FILE}`, '/vo/in/f2', '/vo/in/named', '/vo/in/foreign', '/vo/in/alias'),
    });
    const detail = (path: string): string =>
      `${path} is not brought to the job: no replica of it lies at the address of a storage element`;
    expect([status, body.warnings.map((one: { detail: string }) => one.detail)]).toEqual([
      200,
      ['/vo/in/named', '/vo/in/foreign', '/vo/in/alias'].map(detail),
    ]);
    const [jid = 0] = body.jids;
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    const [json, name, text = ''] = (await outputOf(jid)).split('\n');
    expect([json, name]).toEqual([FILE, 'f2']);
    expect(JSON.parse(text)['LFN:/vo/in/foreign'].replicas).toEqual([
      { url: 'https://else.example.org/else/f', se: 'SE-ELSE' },
    ]);
  });

  it.each([
    ['url', 'url'],
    [' Protocol ', 'url'],
    ['DIRAC.WorkloadManagementSystem.Client.InputDataByProtocol', 'url'],
    ['DIRAC.WorkloadManagementSystem.Client.DownloadInputData', 'download'],
    ['', 'download'],
    [undefined, 'download'],
  ])('are what the policy %j says: %s', async (InputDataPolicy, policy) => {
    const { jid, status } = await run({ ...shell('ls', '/vo/in/f2'), InputDataPolicy });
    expect(status).toBe('Done');
    const { body } = await alice.get(`/jobs/${jid}/manifest`);
    expect(body.InputDataPolicy).toBe(policy);
    expect(await outputOf(jid)).toBe(policy === 'url' ? `${FILE}\n` : `${FILE}\nf2\n`);
  });

  it('have no other policy', async () => {
    const json = { ...shell('ls', '/vo/in/f2'), InputDataPolicy: 'stage' };
    const { status, body } = await alice.post('/jobs', { json });
    const problem = 'must be one of download, url';
    expect([status, body.violations]).toEqual([400, [{ field: 'InputDataPolicy', problem }]]);
  });

  it('are opened for the worker that has the run before it begins, and for no other', async () => {
    const site = 'WORKERS.data';
    await addWorkerSite(grid, site);
    const [mine, other] = await Promise.all([
      PlayedWorker.registered(grid, site),
      PlayedWorker.registered(grid, site),
    ]);
    const [jid = 0] = await submit(alice, [
      { ...shell('cat f1', '/vo/in/f1', '/vo/in/f2', '/vo/in/foreign'), Site: site },
    ]);
    const [run] = await mine.take(1);
    const size = TEXT.length;
    expect(run).toMatchObject({
      run: `${jid}.1`,
      fetched: [
        { path: '/vo/in/f1', size },
        { path: '/vo/in/f2', size },
      ],
    });
    const route = `runs/${jid}.1/inputs`;
    const opened = (paths: unknown, worker = mine) =>
      worker.call('POST', route, { json: { paths } });
    const { status, body, headers } = await opened(['/vo/in/f1', '/vo/in/foreign']);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const checksum = { adler32: ADLER };
    const source = (se: string, { origin }: PlayedStorage, path: string) => ({
      ...{ se, url: `${origin}${path}` },
      headers: { Authorization: expect.stringMatching(/^Bearer eyJ/) },
      expires: expect.stringMatching(/^20.*Z$/),
    });
    expect(body).toEqual({
      files: [
        {
          ...{ path: '/vo/in/f1', size, checksum },
          sources: [source('SE-A', a, '/vo/in/f1'), source('SE-B', b, '/vo/in/f1')],
        },
        { path: '/vo/in/foreign', size, checksum, sources: [] },
      ],
    });
    const [{ sources }] = body.files;
    const token = sources[0].headers.Authorization.slice(7);
    expect(decodeJwt(token)).toMatchObject({ scope: 'storage.read:/vo/in/f1', aud: a.origin });
    expect((await grid.bearer(token).get('/jobs')).status).toBe(401);
    expect(await show(alice, jid)).toMatchObject({ minorStatus: 'Input Data Resolution' });
    expect(JSON.stringify((await alice.get(`/jobs/${jid}/history`)).body)).not.toContain('eyJ');
    expect((await opened(['/vo/in/f2', '/vo/in/large'])).status).toBe(404);
    expect((await opened(['/vo/in/f1'], other)).status).toBe(404);
    expect((await opened([])).status).toBe(400);
    expect((await opened(Array(101).fill('/vo/in/f1'))).status).toBe(400);
    await mine.report({ run: `${jid}.1`, kind: 'starting' });
    expect((await opened(['/vo/in/f1'])).status).toBe(404);
    await mine.report({ run: `${jid}.1`, kind: 'ended' });
  });

  it('are within the token that submits the job', async () => {
    const json = shell('cat f2', '/vo/in/f2');
    const withScope = async (scope: string): Promise<GridClient> =>
      grid.bearer(await grid.token('alice', 'grid_user', 'Prod', scope));
    for (const scope of ['jobs:submit', 'jobs:submit storage.read:/vo/in/deep']) {
      const narrow = await withScope(scope);
      const { status, body } = await narrow.post('/jobs', { json });
      expect([status, body.code, body.detail]).toEqual([
        403,
        'auth.insufficient-scope',
        'The token may not read /vo/in/f2, which would be brought to the job: it needs catalogue:read or storage.read',
      ]);
      const url = { ...json, InputDataPolicy: 'url' };
      expect((await narrow.post('/jobs', { json: url })).status).toBe(200);
    }
    const narrow = await withScope('jobs:submit storage.read:/vo/in');
    expect((await narrow.post('/jobs', { json })).status).toBe(200);
  });
});
