import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '#src/kernel/index.js';
import { Session } from '#src/http-client/index.js';
import { MINOR, RunFault, type InputSource } from '#src/jobs/run/index.js';
import { eventually } from '../../../test/support/testbed.js';
import { PlayedStorage } from '../../../test/support/storage/played-storage.js';
import { InputFetcher, InputsAwayError } from './fetch-inputs.js';
import type { LocalRun } from './local-run.js';

const TEXT = 'bytes of the file';
const PATH = '/vo/in/f1';
const LATER = '2099-01-01T00:00:00.000Z';

describe('files of the catalogue on their way to a run', () => {
  const storage = new PlayedStorage(TEXT);
  let root: string;
  /** What opened the file, each time that it was asked for. */
  let opened: InputSource[];
  let asked: number;
  let fetcher: InputFetcher;
  beforeAll(() => storage.start());
  afterAll(async () => {
    await storage.stop();
  });
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'fetch-'));
    mkdirSync(join(root, 'work'));
    storage.play();
    opened = [source()];
    asked = 0;
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const source = (change: Partial<InputSource> = {}): InputSource => ({
    ...{ se: 'SE-A', url: `${storage.origin}${PATH}`, expires: LATER, ...change },
  });
  const fetch = async (
    { size = TEXT.length, minFree = 0, paths = [PATH] } = {},
    signal = new AbortController().signal,
  ): Promise<string | undefined> => {
    const openFetched = () => {
      const [{ url, ...rest } = source()] = opened.slice(Math.min(asked, opened.length - 1));
      asked += 1;
      const sourcesOf = (path: string) => [{ ...rest, url: url.replace(PATH, path) }];
      return Promise.resolve(
        paths.map((path) => ({ path, size, checksum: {}, sources: sourcesOf(path) })),
      );
    };
    const parts = {
      ...{ service: { openFetched }, config: { localMinFreeBytes: minFree } },
      ...{ clock: systemClock, logger: { warn: () => undefined } },
      ...{ openStorage: () => new Session() },
    };
    const run = {
      order: { manifest: { InputData: paths, InputDataPolicy: 'download' } },
      directory: { path: root, work: join(root, 'work') },
      inputs: {
        text: `{"LFN:${PATH}":{"replicas":[]}}`,
        fetched: paths.map((path) => ({ path, size })),
      },
    } as unknown as LocalRun;
    fetcher = new InputFetcher(parts, [1, 1]);
    return fetcher.fetch(run, { directory: '/job', signal });
  };
  const promised = (): number => (fetcher as unknown as { promisedBytes: number }).promisedBytes;
  const there = (): string[] => readdirSync(join(root, 'work'));

  it('come whole, and are the first of their replicas', async () => {
    expect(await fetch()).toBe(
      `{"LFN:${PATH}":{"replicas":[{"url":"file:///job/f1","se":"SE-A"}]}}\n`,
    );
    expect(readFileSync(join(root, 'work/f1'), 'utf8')).toBe(TEXT);
  });

  it('are given up when they could not be had so often, and leave nothing', async () => {
    storage.play((response) => response.writeHead(503).end());
    const fault = await fetch().catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(InputsAwayError);
    expect((fault as Error).message).toBe(`${PATH}: SE-A: it answers 503`);
    expect([asked, storage.asked.length, there()]).toEqual([3, 3, []]);
  });

  it('are opened anew where what opened them is over, or will be soon', async () => {
    opened = [source({ headers: { 'x-key': 'old' } }), source({ headers: { 'x-key': 'new' } })];
    storage.play((response, request) =>
      request.headers['x-key'] === 'new'
        ? storage.serve(response, request)
        : response.writeHead(401).end(),
    );
    await fetch();
    expect([asked, there()]).toEqual([2, ['f1']]);
    rmSync(join(root, 'work/f1'));
    storage.asked.length = 0;
    asked = 0;
    opened = [
      source({ expires: new Date().toISOString() }),
      source({ headers: { 'x-key': 'new' } }),
    ];
    await fetch();
    expect([asked, storage.asked.length]).toEqual([2, 1]);
  });

  it('are not there for anybody who may not read them any more', async () => {
    opened = [source(), source()];
    storage.play((response) => response.writeHead(404).end());
    const fault = await fetch().catch((error: unknown) => error);
    expect(fault).toMatchObject({
      ...{ name: RunFault.name, minor: MINOR.inputResolution },
      app: `${PATH}: SE-A: it answers 404`,
    });
    expect([asked, there()]).toEqual([1, []]);
  });

  it('never take the place of another file', async () => {
    writeFileSync(join(root, 'work/f1'), 'mine');
    const fault = await fetch().catch((error: unknown) => error);
    expect((fault as RunFault).app).toBe(`${PATH}: cannot be written as f1 (EEXIST)`);
    expect(readFileSync(join(root, 'work/f1'), 'utf8')).toBe('mine');
  });

  it.each([{ size: 2 ** 52 }, { minFree: 2 ** 52 }])(
    'wait elsewhere for room: %j',
    async (place) => {
      await expect(fetch(place)).rejects.toThrow(/bytes, for which no disk has room here$/);
      expect([asked, there()]).toEqual([0, []]);
    },
  );

  it('are promised no less room when parts of them came in vain', async () => {
    let times = 0;
    const left: number[] = [];
    storage.play((response, request) => {
      left.push(promised());
      times += 1;
      if (times > 2) return storage.serve(response, request);
      response.writeHead(200, { 'content-length': TEXT.length });
      return response.write(TEXT.slice(0, 10), () => response.destroy());
    });
    await fetch();
    expect(left).toEqual([TEXT.length, TEXT.length, TEXT.length]);
    expect(promised()).toBe(0);
  });

  it('are not under way any more when one of them has failed', async () => {
    let closed = false;
    storage.play((response, { url }) => {
      if (url === PATH) return void response.writeHead(404).end();
      response.writeHead(200, { 'content-length': TEXT.length }).write('b');
      response.on('close', () => (closed = true));
    });
    const others = Array.from({ length: 3 }, (_, index) => `/vo/in/slow${index}`);
    const fault = await fetch({ paths: [...others, PATH] }).catch((error: unknown) => error);
    expect((fault as RunFault).app).toBe(`${PATH}: SE-A: it answers 404`);
    expect(there()).toEqual([]);
    await eventually(() => Promise.resolve(closed || undefined), 'the connections to end');
  });

  it('bring no cookies of a storage to the next run', async () => {
    storage.play((response, request) => {
      response.setHeader('Set-Cookie', 'who=alice; Path=/');
      storage.serve(response, request);
    });
    await fetch();
    rmSync(join(root, 'work/f1'));
    await fetch();
    expect(storage.asked.map(({ headers }) => headers.cookie)).toEqual([undefined, undefined]);
  });

  it('end with the signal, while they wait and while they come', async () => {
    for (const play of [
      (response: ServerResponse) => response.writeHead(503).end(),
      (response: ServerResponse) =>
        void response.writeHead(200, { 'content-length': TEXT.length }).write('b'),
    ]) {
      const controller = new AbortController();
      storage.play((response) => {
        play(response);
        controller.abort(new Error('killed'));
      });
      await expect(fetch({}, controller.signal)).rejects.toThrow('killed');
      expect(there()).toEqual([]);
    }
  });
});
