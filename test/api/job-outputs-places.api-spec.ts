import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { KeepingStorage } from '../support/storage/keeping-storage.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const DIGESTS = { adler32: '00000001', sha256: '0'.repeat(64), md5: '0'.repeat(32) };

describe('where files of jobs go', () => {
  const [a, s3] = [new KeepingStorage(), new KeepingStorage()];
  let directory: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-places-'));
    const url = (await s3.start()).replace('/vo', '/b');
    const s3At = { name: 'SE-S3', url, kind: 's3', vos: ['vo'] } as const;
    const storageElements = [
      { name: 'SE-A', url: await a.start(), kind: 'webdav', vos: ['vo'] },
      { ...s3At, credentialsFile: join(directory, 'no-keys') },
      { name: 'SE-C' },
    ] as const;
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements }));
    const env = { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_LOCAL_SLOTS: '2' };
    grid = await startGrid({ env });
    alice = await grid.as('alice');
    await bulk(await grid.as('fred'), { kind: 'directory', path: '/vo/out', mode: 0o777 });
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all([a.stop(), s3.stop()]);
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(() => a.reset());

  const shell = (command: string, more: object = {}): object => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', command], OutputSandbox: [], ...more },
  });
  const begin = async (worker: PlayedWorker, run: string): Promise<void> => {
    expect(await worker.take(1)).toMatchObject([{ run }]);
    await worker.report({ run, kind: 'starting' });
    await worker.report({ run, kind: 'ended', storing: 'begins' });
  };
  const uploads = (worker: PlayedWorker, run: string, ...names: string[]) => {
    const files = names.map((name) => ({ name, size: 0, failed: [], ...DIGESTS }));
    return worker.call('POST', `runs/${run}/uploads`, { json: { files } });
  };

  it('is nowhere when something else stands where the directory of the owner would be', async () => {
    const taken = { kind: 'file', path: '/vo/user/b', size: 1, replicas: [{ se: 'SE-C' }] };
    await bulk(await grid.as('fred'), taken);
    const bob = await grid.as('bob');
    const [jid = 0] = await submit(bob, [shell('echo > f', { OutputData: ['f'] })]);
    expect(await awaitFinal(bob, [jid], 30_000)).toMatchObject([
      {
        ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs' },
        appStatus: expect.stringContaining('/vo/user/b is a file'),
      },
    ]);
  });

  it('is told also while the keys of another element cannot be read', async () => {
    const site = 'WORKERS.keys';
    await addWorkerSite(grid, site);
    const worker = await PlayedWorker.registered(grid, site);
    const OutputData = [
      { name: 'f', se: 'SE-S3' },
      { name: 'g', se: 'SE-A' },
    ];
    const [jid = 0] = await submit(alice, [shell('true', { OutputData, Site: site })]);
    await begin(worker, `${jid}.1`);
    const { status, body } = await uploads(worker, `${jid}.1`, 'f', 'g');
    expect([status, body.files]).toMatchObject([
      200,
      [
        { name: 'f', se: 'SE-S3', away: 'The keys of SE-S3 cannot be read' },
        { name: 'g', se: 'SE-A', url: expect.any(String) },
      ],
    ]);
  });

  it('stays that of a later attempt when a request of an earlier one comes to its end', async () => {
    const site = 'WORKERS.late';
    await addWorkerSite(grid, site);
    const worker = await PlayedWorker.registered(grid, site);
    await bulk(alice, { kind: 'directory', path: '/vo/out/held' });
    const OutputData = [
      { name: 'f*', path: '/vo/out/held/' },
      { name: 'g', path: '/vo/out/' },
    ];
    const [jid = 0] = await submit(alice, [shell('true', { OutputData, Site: site })]);
    await begin(worker, `${jid}.1`);
    const blocker = await grid.connection();
    await blocker.query('begin');
    await blocker.query(`select from catalogue_directory where path = '/vo/out/held' for update`);
    const late = uploads(worker, `${jid}.1`, 'f1', 'f2');
    const waits = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%catalogue_directory%'`;
    await eventually(async () => (await grid.sql(waits)).length > 0, 'the request to wait');
    await worker.report({ run: `${jid}.1`, kind: 'ended', storing: 'is over', storingFault: 'no' });
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Failed' }]);
    expect((await alice.post(`/jobs/${jid}/reschedule`)).status).toBe(200);
    await begin(worker, `${jid}.2`);
    expect((await uploads(worker, `${jid}.2`, 'g')).body.files).toMatchObject([{ se: 'SE-A' }]);
    await blocker.query('rollback');
    await blocker.end();
    await late;
    expect(
      await grid.sql(`select attempt, state from catalogue_bytes where path = '/vo/out/g'`),
    ).toEqual([{ attempt: 2, state: 'arriving' }]);
  });
});
