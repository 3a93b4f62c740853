import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEMO_REGISTRY, writeRegistryFile } from '#src/registry/index.js';
import { bulk } from '../support/catalogue/events.js';
import { Blocker } from '../support/blocker.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { KeepingStorage } from '../support/storage/keeping-storage.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TEXT = 'made by the job';
const MOMENTS = ['its bytes have come', 'they are looked at', 'they are registered'] as const;
const KILLED = ['worker', 'service'] as const;

describe('files of jobs', () => {
  const storage = new KeepingStorage();
  let directory: string;
  let grid: Grid;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gridgate-races-'));
    const url = await storage.start();
    const storageElements = [{ name: 'SE', url, kind: 'webdav', vos: ['vo'] } as const];
    const registry = join(directory, 'r.yaml');
    await writeFile(registry, writeRegistryFile({ ...DEMO_REGISTRY, storageElements }));
    const env = { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true', GRID_STORAGE_TIMEOUT: '5' };
    grid = await startGrid({ ownProcess: true, env });
    await bulk(await grid.as('fred'), { kind: 'directory', path: '/vo/out', mode: 0o777 });
  });
  beforeEach(() => storage.kept.clear());
  afterAll(async () => {
    await grid?.remove();
    await storage.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const job = (text: string, more: object = {}): object => ({
    ...{ Executable: '/bin/sh', Arguments: ['-c', `printf '${text}' > f`] },
    ...{ OutputData: ['f'], OutputSandbox: [], ...more },
  });
  const nothingLeft = (): Promise<unknown> =>
    eventually(
      async () => (await grid.sql('select from catalogue_bytes')).length === 0 || undefined,
      'nothing to be left',
    );
  const contentOf = async (client: GridClient, path: string): Promise<unknown[]> => {
    const name = Buffer.from(path).toString('base64url');
    const { status, bytes } = await client.get(`/filecatalogue/file/${name}/content`);
    return [status, bytes.toString()];
  };

  /** Answers nothing to the first request that is the one; resolves with what would answer it. */
  const firstOf = (isIt: (request: IncomingMessage) => boolean): Promise<() => void> =>
    new Promise((resolve) =>
      storage.play((response: ServerResponse, request) => {
        if (!isIt(request)) return storage.keep(response, request);
        storage.play(storage.keep);
        return resolve(() => storage.keep(response, request));
      }),
    );

  const reached: Record<(typeof MOMENTS)[number], () => Promise<Blocker | undefined>> = {
    'its bytes have come': () =>
      new Promise((resolve) =>
        storage.play((response, request) => {
          if (request.method !== 'PUT') return storage.keep(response, request);
          // They are there, and nobody is told.
          response.writeHead = () => {
            storage.play(storage.keep);
            resolve(undefined);
            return Object.assign(response, { end: () => response });
          };
          return storage.keep(response, request);
        }),
      ),
    'they are looked at': async () => {
      await firstOf(({ method }) => method === 'HEAD' && storage.kept.size > 0);
      return undefined;
    },
    'they are registered': async () => {
      const goOn = await firstOf(({ method }) => method === 'HEAD' && storage.kept.size > 0);
      const blocker = await Blocker.hold(grid, 'lock table catalogue_file in exclusive mode');
      goOn();
      await blocker.keeps(1);
      return blocker;
    },
  };

  it('have a path of one job alone, however many store it at once', async () => {
    const OutputPath = '/vo/out/same';
    const path = `${OutputPath}/f`;
    const [alice, bob] = [await grid.as('alice'), await grid.as('bob')];
    const isHeld = firstOf(({ method }) => method === 'PUT');
    const [first = 0] = await submit(alice, [job('of the first', { OutputPath })]);
    const goOn = await isHeld;
    const [second = 0] = await submit(bob, [job('of the second', { OutputPath })]);
    const late = { status: 'Failed', minorStatus: 'Uploading Job Outputs' };
    expect(await awaitFinal(bob, [second])).toMatchObject([
      { ...late, appStatus: expect.stringContaining(path) },
    ]);
    goOn();
    expect(await awaitFinal(alice, [first])).toMatchObject([{ status: 'Done' }]);
    expect(await contentOf(bob, path)).toEqual([200, 'of the first']);
    const texts = ['0', '1', '2', '3'];
    const jids = await submit(
      alice,
      texts.map((text) => job(text, { OutputPath: '/vo/out/four' })),
    );
    const ended = await awaitFinal(alice, jids);
    const done = texts.filter((_, n) => ended[n]?.status === 'Done');
    expect(done).toHaveLength(1);
    expect(ended.filter(({ minorStatus }) => minorStatus === late.minorStatus)).toHaveLength(3);
    expect(await contentOf(alice, '/vo/out/four/f')).toEqual([200, done[0]]);
    await nothingLeft();
  });

  it('do not come where bytes are still being removed', async () => {
    const OutputPath = '/vo/out/anew';
    const path = `${OutputPath}/f`;
    const alice = await grid.as('alice');
    const stored = async (text: string): Promise<unknown> => {
      const jids = await submit(alice, [job(text, { OutputPath })]);
      return (await awaitFinal(alice, jids))[0];
    };
    expect(await stored('first')).toMatchObject({ status: 'Done' });
    const file = `/filecatalogue/file/${Buffer.from(path).toString('base64url')}`;
    expect((await alice.delete(file)).body).toMatchObject({ deleted: true, removing: true });
    expect(await stored('second')).toMatchObject({
      ...{ status: 'Failed', minorStatus: 'Uploading Job Outputs' },
      appStatus: `f: The bytes of ${path} are being removed`,
    });
    expect(storage.kept.get(path)?.toString()).toBe('first');
    await grid.sql('update catalogue_bytes set due_at = now(), removals = least(removals, 1)');
    await nothingLeft();
    expect(storage.kept.has(path)).toBe(false);
    expect(await stored('third')).toMatchObject({ status: 'Done' });
    expect(await contentOf(alice, path)).toEqual([200, 'third']);
  });

  it.each(MOMENTS.flatMap((moment) => KILLED.map((killed) => [moment, killed] as const)))(
    'lose nothing and leave nothing where, while %s, the %s is killed',
    async (moment, killed) => {
      const alice = await grid.as('alice');
      const there = reached[moment]();
      const [jid = 0] = await submit(alice, [job(TEXT)]);
      const blocker = await there;
      expect([...storage.kept.values()].map(String)).toEqual([TEXT]);
      if (killed === 'worker') await grid.killOwnWorker();
      else {
        await grid.kill({ isWorkerSpared: true });
        grid = await grid.again();
      }
      await blocker?.end();
      const client = await grid.as('alice');
      expect(await awaitFinal(client, [jid])).toMatchObject([{ status: 'Done' }]);
      const path = `/vo/user/a/alice/${String(jid).padStart(12, '0')}/f`;
      expect([...storage.kept].map(([at, bytes]) => [at, String(bytes)])).toEqual([[path, TEXT]]);
      expect(await contentOf(client, path)).toEqual([200, TEXT]);
      await nothingLeft();
    },
  );
});
