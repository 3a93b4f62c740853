import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewOutput, OpenedOutput, RunOrder } from '#src/jobs/run/index.js';
import { eventually } from '../../../test/support/testbed.js';
import { PlayedStorage } from '../../../test/support/storage/played-storage.js';
import { OutputStore, type StoreParts } from './store-outputs.js';

const LATER = '2099-01-01T00:00:00.000Z';

describe('files of a run that cannot be stored yet, or at all,', () => {
  const storage = new PlayedStorage('');
  let root: string;
  /** When what lets a file in ends, by how often the file was opened before. */
  let endOf: (name: string, before: number) => string;
  let opened: string[];
  beforeAll(() => storage.start());
  afterAll(() => storage.stop());
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'store-'));
    endOf = () => LATER;
    opened = [];
    storage.play((response, request) =>
      request.resume().on('end', () => response.writeHead(201).end()),
    );
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const storeOf = (): OutputStore => {
    const openOutputs = (_run: RunOrder, files: readonly NewOutput[]): Promise<OpenedOutput[]> =>
      Promise.resolve(
        files.map(({ name }) => {
          const before = opened.filter((one) => one === name).length;
          opened.push(name);
          const headers = { 'x-key': String(before) };
          const url = `${storage.origin}/vo/${name}`;
          return { name, se: 'SE-A', url, headers, expires: endOf(name, before) };
        }),
      );
    const arrivedOutputs = (_run: RunOrder, names: readonly string[]) =>
      Promise.resolve(names.map((name) => ({ name })));
    const service = { openOutputs, arrivedOutputs } as StoreParts['service'];
    return new OutputStore({ service, config: { storageTimeout: 60 }, storageCa: true }, [1, 1]);
  };
  const run = (store: OutputStore, ...names: string[]): Promise<string[]> => {
    const OutputData = names.map((name) => ({ name }));
    const order = { jid: 1, manifest: { OutputPath: '/vo/out', OutputData } };
    const places = { directory: root, files: new Map<string, string>(), uid: undefined };
    return store.store(order as unknown as RunOrder, places, new AbortController().signal);
  };
  const make = (...names: string[]): void =>
    names.forEach((name) => writeFileSync(join(root, name), name));

  it('are all of those that match, or the job fails: also where there are too many to look at', async () => {
    make(...Array.from({ length: 110 }, (_, index) => `many${index}`), 'last.root');
    const patterns = Array.from({ length: 999 }, (_, index) => `none${index}*`);
    await expect(run(storeOf(), ...patterns, '*.root')).rejects.toThrow(
      'there are too many files to look through',
    );
  });

  it('are plain ones: the job fails with what else matches', async () => {
    make('a.txt');
    execFileSync('mkfifo', [join(root, 'b.txt')]);
    await expect(run(storeOf(), '*.txt')).rejects.toThrow('b.txt: it is not a plain file');
    await expect(run(storeOf(), 'b.txt')).rejects.toThrow('b.txt: it is not a plain file');
    mkdirSync(join(root, 'd'));
    await expect(run(storeOf(), 'c.txt')).rejects.toThrow('c.txt was not made');
    expect(storage.asked).toEqual([]);
  });

  it('are let in anew when they have waited too long for others', async () => {
    const names = Array.from({ length: 96 }, (_, index) => `slow${index}`);
    make(...names, 'late');
    const slow: ServerResponse[] = [];
    storage.play((response, request) => {
      request.resume();
      if (request.url?.includes('slow')) slow.push(response);
      else response.writeHead(201).end();
    });
    const store = storeOf();
    const others = [run(store, ...names), run(store, ...names)];
    await eventually(() => Promise.resolve(slow.length === 32 || undefined), 'all to be sent');
    let end = 0;
    endOf = (name, before) => {
      if (name !== 'late' || before > 0) return LATER;
      end = Date.now() + 500;
      return new Date(end).toISOString();
    };
    const last = run(store, 'late');
    const isOver = () => Promise.resolve((end > 0 && Date.now() > end) || undefined);
    await eventually(isOver, 'its time to be over');
    storage.play((response, request) =>
      request.resume().on('end', () => response.writeHead(201).end()),
    );
    for (const response of slow) response.writeHead(201).end();
    await Promise.all([last, ...others]);
    const late = storage.asked.filter(({ url }) => url === '/vo/late');
    expect(late.map(({ headers }) => headers['x-key'])).toEqual(['1']);
  });
});
