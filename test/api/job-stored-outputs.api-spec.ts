import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { fetch } from 'undici';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { awaitFinal, awaitStatus, parametersOf, show, submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { adlerOf, KeepingStorage } from '../support/storage/keeping-storage.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TEXT = 'made by the job\n';

const hangs = (response: ServerResponse, request: IncomingMessage): unknown =>
  request.method === 'PUT' ? request.resume() : response.writeHead(404).end();

describe('files that a job stores', () => {
  const [a, b, c] = [new KeepingStorage(), new KeepingStorage(), new KeepingStorage()];
  let directory: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-outputs-'));
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const storageElements = [
      { name: 'SE-A', url: await a.start(), ...webdav },
      { name: 'SE-B', url: await b.start(), ...webdav },
      { name: 'SE-KEEPS', url: await c.start(), ...webdav, removes: false },
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
        ...{ GRID_LOCAL_SLOTS: '2' },
      },
    });
    alice = await grid.as('alice');
    await bulk(await grid.as('fred'), { kind: 'directory', path: '/vo/out', mode: 0o777 });
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([a.stop(), b.stop(), c.stop()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => {
    for (const storage of [a, b, c]) {
      storage.reset();
      storage.kept.clear();
    }
  });

  const shell = (command: string, more: object = {}): object => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', command], OutputSandbox: [], ...more },
  });
  const run = async (manifest: object) => {
    const [jid = 0] = await submit(alice, [manifest]);
    const [job] = await awaitFinal(alice, [jid]);
    return { jid, ...job };
  };
  const homeOf = (jid: number): string => `/vo/user/a/alice/${String(jid).padStart(12, '0')}`;
  const ask = async (path: string, what: string) => {
    const name = Buffer.from(path).toString('base64url');
    return alice.get(`/filecatalogue/file/${name}/${what}`);
  };
  const left = async (): Promise<unknown[]> =>
    grid.sql('select path, state, se_id from catalogue_bytes order by path');

  it('are at a storage element and in the catalogue when it is Done', async () => {
    const command = `mkdir -p d; echo made by the job | tee hits d/1.txt d/2.txt d/x > all`;
    const OutputData = [
      'hits',
      'd/*.txt',
      { name: './d/x', path: '/vo/out/named/', se: 'SE-B' },
      { name: 'all', path: 'other/every' },
    ];
    const { jid, status } = await run(shell(command, { OutputData }));
    expect(status).toBe('Done');
    const home = homeOf(jid);
    const paths = ['hits', 'd/1.txt', 'd/2.txt', 'other/every'].map((name) => `${home}/${name}`);
    expect([...a.kept.keys()].sort()).toEqual(paths.sort());
    expect([...b.kept.keys()]).toEqual(['/vo/out/named/x']);
    for (const path of [...paths, '/vo/out/named/x']) {
      const bytes = (path.startsWith(home) ? a : b).kept.get(path) ?? Buffer.alloc(0);
      expect([path, bytes.toString()]).toEqual([path, TEXT]);
      expect((await ask(path, 'attributes')).body).toMatchObject({
        ...{ Size: TEXT.length, Checksum: adlerOf(bytes), ChecksumType: 'Adler32', Owner: 'alice' },
      });
      expect((await ask(path, 'content')).bytes.toString()).toBe(TEXT);
    }
    const sha256 = createHash('sha256').update(TEXT).digest('hex');
    const rows = await grid.sql(
      'select distinct sha256 from catalogue_file where stored is not null',
    );
    expect(rows).toEqual([{ sha256 }]);
    expect(await left()).toEqual([]);
    const { body } = await alice.get(`/jobs/${jid}/history`);
    const past = body.history.map((one: { minorStatus: string; status: string }) => [
      one.status,
      one.minorStatus,
    ]);
    expect(past.slice(-3)).toEqual([
      ['Completing', 'Uploading Job Outputs'],
      ['Completed', 'Output Sandbox Uploaded'],
      ['Done', 'Execution Complete'],
    ]);
    expect(JSON.stringify(body)).not.toContain('eyJ');
    const { UploadedOutputData, OutputNotRequested } = await parametersOf(alice, jid);
    expect(OutputNotRequested).toBeUndefined();
    expect(String(UploadedOutputData).split(', ').sort()).toEqual(
      [...paths, '/vo/out/named/x'].sort(),
    );
  });

  it('go to the next storage element where one does not take them', async () => {
    a.status = 507;
    a.keeps = (bytes) => bytes.subarray(0, 3);
    const { jid, status } = await run(shell('echo made by the job > f', { OutputData: 'f' }));
    expect(status).toBe('Done');
    expect(b.kept.get(`${homeOf(jid)}/f`)?.toString()).toBe(TEXT);
    await eventually(
      async () =>
        (await grid.sql('update catalogue_bytes set removals = 1 where true returning 1'))
          .length === 0,
      'the removal',
    );
    expect(a.kept.size).toBe(0);
  });

  it('fail the job with the name of what was not made, or is no file', async () => {
    for (const [command, name] of [
      ['true', 'f was not made'],
      ['ln -s /etc/passwd f', 'f: it is a link that leaves the directory'],
      ['echo > x; ln -s x f', 'f is no file, but a link or in a directory that is named'],
      ['mkdir f', 'f is no file, but a link or in a directory that is named'],
    ]) {
      const job = await run(shell(command ?? '', { OutputData: ['f'] }));
      expect(job).toMatchObject({
        ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs', appStatus: name },
      });
    }
    expect([a.kept.size, b.kept.size, await left()]).toEqual([0, 0, []]);
  });

  it('are not stored when the program has failed', async () => {
    const job = await run(shell('echo > f; exit 3', { OutputData: ['f'] }));
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Application Finished With Errors',
    });
    expect([a.kept.size, a.asked.length, await left()]).toEqual([0, 0, []]);
  });

  it('may be none of a pattern', async () => {
    const { jid, status } = await run(shell('true', { OutputData: ['*.root'] }));
    expect(status).toBe('Done');
    expect(await parametersOf(alice, jid)).toMatchObject({ MissingOutput: '*.root' });
  });

  it('overwrite nothing, and leave nothing where one of them cannot be registered', async () => {
    await bulk(alice, { kind: 'file', path: '/vo/out/taken', size: 1, replicas: [{ se: 'SE-C' }] });
    const OutputData = [{ name: 'f' }, { name: 'g', path: '/vo/out/taken' }];
    const job = await run(shell('echo > f; echo > g', { OutputData }));
    expect(job).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs' },
      appStatus: expect.stringContaining('/vo/out/taken is a file'),
    });
    expect((await ask(`${homeOf(job.jid)}/f`, 'attributes')).status).toBe(404);
    await eventually(
      async () =>
        (await grid.sql(`select from catalogue_bytes where state = 'arriving'`)).length === 0,
      'the reservations to end',
    );
    await grid.sql('update catalogue_bytes set due_at = now(), removals = least(removals, 1)');
    await eventually(async () => (await left()).length === 0, 'the removal');
    expect([a.kept.size, b.kept.size]).toEqual([0, 0]);
  });

  it('wait for a storage that is away, and end with the job that is killed', async () => {
    a.isAway = b.isAway = true;
    let refused = 0;
    a.onAway = () => (refused += 1);
    const [jid = 0] = await submit(alice, [shell('echo > f', { OutputData: ['f'] })]);
    await awaitStatus(alice, jid, ['Completing']);
    await eventually(() => Promise.resolve(refused > 1 || undefined), 'a second try');
    expect(await show(alice, jid)).toMatchObject({ minorStatus: 'Uploading Job Outputs' });
    a.isAway = b.isAway = false;
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    a.play(hangs);
    const [other = 0] = await submit(alice, [shell('echo > f', { OutputData: ['f'] })]);
    await awaitStatus(alice, other, ['Completing']);
    await alice.delete(`/jobs/${other}`);
    expect(await awaitFinal(alice, [other])).toMatchObject([{ status: 'Killed' }]);
    await eventually(async () => {
      const [job] = await grid.sql('select executor from jobs where jid = $1', [other]);
      return (job?.executor ?? null) === null || undefined;
    }, 'the run to be let go of');
  });

  it('are stored by a worker that was killed meanwhile', async () => {
    a.play(hangs);
    const [jid = 0] = await submit(alice, [
      shell('echo made by the job > f', { OutputData: ['f'] }),
    ]);
    await eventually(
      () => Promise.resolve(a.asked.some(({ method }) => method === 'PUT') || undefined),
      'the storage to be asked',
    );
    a.reset();
    await grid.killOwnWorker();
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Done' }]);
    expect(a.kept.get(`${homeOf(jid)}/f`)?.toString()).toBe(TEXT);
  });

  it('are not one file under two names', async () => {
    const both = [
      { name: 'a/*', path: 'r/' },
      { name: 'b/*', path: 'r/' },
    ];
    const job = await run(shell('mkdir a b; echo > a/f; echo > b/f', { OutputData: both }));
    expect(job).toMatchObject({
      status: 'Failed',
      appStatus: `a/f and b/f would be ${homeOf(job.jid)}/r/f`,
    });
    expect(a.asked.length).toBe(0);
  });

  it('keep what lies at a storage element that nobody knows of, and go elsewhere', async () => {
    const manifest = { OutputData: ['f'], OutputPath: '/vo/out/way' };
    a.kept.set('/vo/out/way/f', Buffer.from('of somebody'));
    expect(await run(shell('echo made by the job > f', manifest))).toMatchObject({
      status: 'Done',
    });
    expect(a.kept.get('/vo/out/way/f')?.toString()).toBe('of somebody');
    expect(b.kept.get('/vo/out/way/f')?.toString()).toBe(TEXT);
  });

  it('remove nothing at an element that says so, and go elsewhere', async () => {
    c.keeps = (bytes) => bytes.subarray(0, 3);
    const manifest = { OutputData: ['f'], OutputSE: ['SE-KEEPS', 'SE-B'] };
    const { jid, status } = await run(shell('echo made by the job > f', manifest));
    expect(status).toBe('Done');
    expect(c.asked.map(({ method }) => method)).not.toContain('DELETE');
    expect(c.kept.get(`${homeOf(jid)}/f`)?.length).toBe(3);
    expect(b.kept.get(`${homeOf(jid)}/f`)?.toString()).toBe(TEXT);
  });

  it('wait where an element cannot be looked at after they were sent', async () => {
    let looks = 0;
    const { keep } = a;
    a.play((response, request) => {
      if (request.method === 'HEAD' && a.kept.size > 0 && (looks += 1) < 3) {
        response.writeHead(503).end();
      } else keep(response, request);
    });
    const job = await run(shell('echo made by the job > f', { OutputData: ['f'] }));
    expect([job.status, looks > 2]).toEqual(['Done', true]);
    expect(a.kept.get(`${homeOf(job.jid)}/f`)?.toString()).toBe(TEXT);
  });

  it('leave the directories of others as they are', async () => {
    await bulk(await grid.as('fred'), { kind: 'directory', path: '/vo/user/b', mode: 0o770 });
    const bob = await grid.as('bob');
    const [jid = 0] = await submit(bob, [shell('echo > f', { OutputData: ['f'] })]);
    expect(await awaitFinal(bob, [jid])).toMatchObject([{ status: 'Done' }]);
    expect(
      await grid.sql(
        `select path, mode from catalogue_directory where path in ('/vo/user/b', '/vo/user/b/bob') order by path`,
      ),
    ).toEqual([
      { path: '/vo/user/b', mode: 0o770 },
      { path: '/vo/user/b/bob', mode: 0o755 },
    ]);
  });

  it('are let in for the worker that stores them, by their names alone', async () => {
    const site = 'WORKERS.data';
    await addWorkerSite(grid, site);
    const [mine, other] = await Promise.all([
      PlayedWorker.registered(grid, site),
      PlayedWorker.registered(grid, site),
    ]);
    const [jid = 0] = await submit(alice, [
      shell('true', { OutputData: ['f', '*.x'], Site: site }),
    ]);
    expect(await mine.take(1)).toMatchObject([{ run: `${jid}.1` }]);
    const path = `${homeOf(jid)}/f`;
    const bytes = Buffer.from(TEXT);
    const md5 = createHash('md5').update(bytes).digest('hex');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = {
      name: 'f',
      size: bytes.length,
      adler32: adlerOf(bytes),
      sha256,
      md5,
      failed: [],
    };
    const uploads = (files: object[], worker = mine) =>
      worker.call('POST', `runs/${jid}.1/uploads`, { json: { files } });
    const arrivals = (names: string[], worker = mine) =>
      worker.call('POST', `runs/${jid}.1/arrivals`, { json: { names } });
    expect((await uploads([file])).status).toBe(404);
    await mine.report({ run: `${jid}.1`, kind: 'starting' });
    expect((await uploads([file])).status).toBe(404);
    expect(await mine.report({ run: `${jid}.1`, kind: 'ended', storing: 'begins' })).toEqual([
      { run: `${jid}.1`, store: true },
    ]);
    expect((await uploads([file], other)).status).toBe(404);
    expect((await uploads(Array(101).fill(file))).status).toBe(400);
    for (const wrong of [{ md5: 'x' }, { size: -1 }, { path: '/vo/out/f' }])
      expect((await uploads([{ ...file, ...wrong }])).status).toBe(400);
    const { status, body, headers } = await uploads([file, { ...file, name: '../f' }]);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body.files).toEqual([
      {
        ...{ name: 'f', se: 'SE-A', url: `${a.origin}${path}`, expires: expect.any(String) },
        headers: { Authorization: expect.stringMatching(/^Bearer eyJ/) },
      },
      { name: '../f', fault: 'is none of OutputData' },
    ]);
    const [{ url, headers: key }] = body.files;
    const claims = decodeJwt(key.Authorization.slice(7));
    expect(claims).toMatchObject({ scope: `storage.create:${path}`, aud: a.origin });
    expect((await arrivals(['f'], other)).status).toBe(404);
    expect((await arrivals(['f', 'g'])).body.files).toEqual([
      { name: 'f', fault: `SE-A has nothing of ${path}` },
      { name: 'g', fault: 'its path is not held any more' },
    ]);
    // Nobody can say that it is there before it is.
    await mine.report({ run: `${jid}.1`, kind: 'ended', storing: 'is over' });
    expect(await show(alice, jid)).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs' },
      appStatus: `${path} has not arrived`,
    });
    expect((await uploads([file])).status).toBe(404);
    expect((await fetch(url, { method: 'PUT', body: bytes, headers: key })).status).toBe(201);
    expect((await ask(path, 'attributes')).status).toBe(404);
  });

  it('are worked at by one request alone: a late removal meets no later bytes', async () => {
    const site = 'WORKERS.twice';
    await addWorkerSite(grid, site);
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [shell('true', { OutputData: ['f'], Site: site })]);
    expect(await worker.take(1)).toMatchObject([{ run: `${jid}.1` }]);
    await worker.report({ run: `${jid}.1`, kind: 'starting' });
    await worker.report({ run: `${jid}.1`, kind: 'ended', storing: 'begins' });
    const digests = { adler32: '00000001', sha256: '0'.repeat(64), md5: '0'.repeat(32) };
    const uploads = async () => {
      const json = { files: [{ name: 'f', size: 0, failed: [], ...digests }] };
      return (await worker.call('POST', `runs/${jid}.1/uploads`, { json })).body.files[0];
    };
    expect(await uploads()).toMatchObject({ se: 'SE-A' });
    const { keep } = a;
    let goOn: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) =>
      a.play((response, request) => {
        if (request.method !== 'DELETE') return keep(response, request);
        goOn = () => keep(response, request);
        return resolve();
      }),
    );
    const first = uploads();
    await isAsked;
    expect(await uploads()).toEqual({
      ...{ name: 'f', se: '', away: 'an earlier request for it is under way' },
    });
    goOn();
    expect(await first).toMatchObject({ se: 'SE-A', url: expect.any(String) });
  });

  it('are missed where the worker says nothing of them', async () => {
    const site = 'WORKERS.old';
    await addWorkerSite(grid, site);
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [shell('true', { OutputData: ['*.x'], Site: site })]);
    expect(await worker.take(1)).toMatchObject([{ run: `${jid}.1` }]);
    await worker.report({ run: `${jid}.1`, kind: 'starting' });
    await worker.report({ run: `${jid}.1`, kind: 'ended' });
    expect(await show(alice, jid)).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs' },
      appStatus: 'its worker has not stored its files',
    });
  });
});
