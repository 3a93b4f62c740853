import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetch } from 'undici';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { awaitFinal, show, submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { adlerOf, KeepingStorage } from '../support/storage/keeping-storage.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TEXT = 'made by the job\n';

describe('files of a job that are stored anew', () => {
  const storages = [new KeepingStorage(), new KeepingStorage(), new KeepingStorage()] as const;
  const [a] = storages;
  let directory: string;
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-outputs-'));
    const webdav = { kind: 'webdav', vos: ['vo'] } as const;
    const urls = await Promise.all(storages.map((storage) => storage.start()));
    const names = ['SE-A', 'SE-B', 'SE-C'];
    const storageElements = urls.map((url, index) => ({
      name: names[index] ?? '',
      url,
      ...webdav,
    }));
    const all = [...storageElements, { name: 'SE-X' }];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements: all }));
    const env = { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_LOCAL_SLOTS: '2' };
    grid = await startGrid({ env });
    alice = await grid.as('alice');
    await bulk(await grid.as('fred'), { kind: 'directory', path: '/vo/out', mode: 0o777 });
  });
  afterAll(async () => {
    await grid?.remove();
    await Promise.all(storages.map((storage) => storage.stop()));
    await rm(directory, { recursive: true, force: true });
  });

  const shell = (command: string, more: object = {}): object => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', command], OutputSandbox: [], ...more },
  });
  const homeOf = (jid: number): string => `/vo/user/a/alice/${String(jid).padStart(12, '0')}`;

  it('go past an element where an earlier try is still to be removed', async () => {
    const site = 'WORKERS.again';
    await addWorkerSite(grid, site);
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [shell('true', { OutputData: ['f'], Site: site })]);
    expect(await worker.take(1)).toMatchObject([{ run: `${jid}.1` }]);
    await worker.report({ run: `${jid}.1`, kind: 'starting' });
    await worker.report({ run: `${jid}.1`, kind: 'ended', storing: 'begins' });
    const digests = { adler32: '00000001', sha256: '0'.repeat(64), md5: '0'.repeat(32) };
    const uploads = async (...failed: string[]) => {
      const json = { files: [{ name: 'f', size: 0, failed, ...digests }] };
      return (await worker.call('POST', `runs/${jid}.1/uploads`, { json })).body.files[0];
    };
    expect(await uploads()).toMatchObject({ se: 'SE-A' });
    expect(await uploads('SE-A')).toMatchObject({ se: 'SE-B' });
    // A worker that was started anew knows nothing of the first element.
    expect(await uploads()).toMatchObject({ se: 'SE-B' });
    expect(await uploads('SE-B')).toMatchObject({ se: 'SE-C' });
  });

  it('are stored by the next attempt whenever what the first has left was to be removed', async () => {
    await bulk(alice, { kind: 'file', path: '/vo/out/full', size: 1, replicas: [{ se: 'SE-X' }] });
    const OutputData = ['f', { name: 'g', path: '/vo/out/full' }];
    const [jid = 0] = await submit(alice, [shell('echo > f; echo > g', { OutputData })]);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Failed' }]);
    const isGivenUp = async () =>
      (await grid.sql(`select from catalogue_bytes where jid = $1 and state = 'removing'`, [jid]))
        .length > 0;
    await eventually(isGivenUp, 'the first attempt to be given up');
    await grid.sql(`update catalogue_bytes set due_at = now() + interval '500 s' where jid = $1`, [
      jid,
    ]);
    const name = Buffer.from('/vo/out/full').toString('base64url');
    expect((await alice.delete(`/filecatalogue/file/${name}`)).status).toBeLessThan(300);
    expect((await alice.post(`/jobs/${jid}/reschedule`)).status).toBe(200);
    expect(await awaitFinal(alice, [jid], 30_000)).toMatchObject([{ status: 'Done' }]);
  });

  it('go elsewhere where an element does not say that it has removed those of an earlier attempt', async () => {
    await bulk(alice, { kind: 'file', path: '/vo/out/taken', size: 1, replicas: [{ se: 'SE-X' }] });
    const OutputData = ['f', { name: 'g', path: '/vo/out/taken' }];
    const [jid = 0] = await submit(alice, [shell('echo > f; echo > g', { OutputData })]);
    expect(await awaitFinal(alice, [jid])).toMatchObject([{ status: 'Failed' }]);
    const name = Buffer.from('/vo/out/taken').toString('base64url');
    expect((await alice.delete(`/filecatalogue/file/${name}`)).status).toBeLessThan(300);
    const { keep } = a;
    a.play((response, request) =>
      request.method === 'DELETE' ? void response.destroy() : keep(response, request),
    );
    expect((await alice.post(`/jobs/${jid}/reschedule`)).status).toBe(200);
    expect(await awaitFinal(alice, [jid], 30_000)).toMatchObject([{ status: 'Done' }]);
    a.play(keep);
    const path = `${homeOf(jid)}/f`;
    expect([a.kept.has(path), storages[1].kept.has(path)]).toEqual([true, true]);
    // The key of the first attempt may still bring bytes to the first element.
    const rows = await grid.sql(
      `select path, state, due_at > now() + interval '800 s' as is_late from catalogue_bytes where jid = $1`,
      [jid],
    );
    expect(rows).toEqual([{ path, state: 'removing', is_late: true }]);
    await grid.sql('update catalogue_bytes set due_at = now() where jid = $1', [jid]);
    await eventually(
      () => Promise.resolve(!a.kept.has(path)),
      'what the first attempt has left to go',
    );
  });

  it('have not arrived when they were let in anew while somebody looked at them', async () => {
    const site = 'WORKERS.looks';
    await addWorkerSite(grid, site);
    const worker = await PlayedWorker.registered(grid, site);
    const [jid = 0] = await submit(alice, [shell('true', { OutputData: ['f', 'g'], Site: site })]);
    expect(await worker.take(1)).toMatchObject([{ run: `${jid}.1` }]);
    await worker.report({ run: `${jid}.1`, kind: 'starting' });
    await worker.report({ run: `${jid}.1`, kind: 'ended', storing: 'begins' });
    const bytes = Buffer.from(TEXT);
    const digests = {
      adler32: adlerOf(bytes),
      sha256: createHash('sha256').update(bytes).digest('hex'),
      md5: createHash('md5').update(bytes).digest('hex'),
    };
    const uploads = async (...names: string[]) => {
      const files = names.map((name) => ({ name, size: bytes.length, failed: [], ...digests }));
      const { body } = await worker.call('POST', `runs/${jid}.1/uploads`, { json: { files } });
      return body.files;
    };
    for (const { url, headers } of await uploads('f', 'g')) {
      expect((await fetch(url, { method: 'PUT', body: bytes, headers })).status).toBe(201);
    }
    const { keep } = a;
    let goOn: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) =>
      a.play((response, request) => {
        if (request.method !== 'HEAD' || request.url !== `${homeOf(jid)}/g`)
          return keep(response, request);
        goOn = () => keep(response, request);
        return resolve();
      }),
    );
    const json = { names: ['f', 'g'] };
    const looked = worker.call('POST', `runs/${jid}.1/arrivals`, { json });
    await isAsked;
    await eventually(
      () => Promise.resolve(a.asked.some(({ url }) => url === `${homeOf(jid)}/f`) || undefined),
      'the other file to be looked at',
    );
    expect(await uploads('f')).toMatchObject([{ se: 'SE-A' }]);
    expect(a.kept.has(`${homeOf(jid)}/f`)).toBe(false);
    goOn();
    await looked;
    await worker.report({ run: `${jid}.1`, kind: 'ended', storing: 'is over' });
    expect(await show(alice, jid)).toMatchObject({
      ...{ status: 'Failed', appStatus: `${homeOf(jid)}/f has not arrived` },
    });
  });
});
