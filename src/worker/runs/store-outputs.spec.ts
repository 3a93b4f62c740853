import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NewOutput, OpenedOutput, RunOrder } from '#src/jobs/run/index.js';
import { PlayedStorage } from '../../../test/support/storage/played-storage.js';
import { OutputStore, StoreFault } from './store-outputs.js';

const TEXT = 'bytes of the file';
const MD5 = createHash('md5').update(TEXT).digest('hex');
const LATER = '2099-01-01T00:00:00.000Z';
const EARLIER = '2020-01-01T00:00:00.000Z';
const OLD = 'Bearer old';

describe('files of a run on their way to a storage', () => {
  const storage = new PlayedStorage('');
  let directory: string;
  /** The digests and refusals that were told with each request for places. */
  let asked: (readonly NewOutput[])[];
  let kept: string[];
  beforeAll(() => storage.start());
  afterAll(async () => {
    await storage.stop();
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'store-'));
    writeFileSync(join(directory, 'f'), TEXT);
    [asked, kept] = [[], []];
    storage.play((response, request) => void take(response, request));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Keeps what is put, but for tokens that are over. */
  const take = async (response: ServerResponse, request: IncomingMessage): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.headers.authorization === OLD) return void response.writeHead(401).end();
    kept.push(Buffer.concat(pieces).toString());
    response.writeHead(201).end();
  };
  type Place = OpenedOutput extends infer P ? Omit<P, 'name'> : never;
  const at = (change: object = {}): Place => ({
    ...{ se: 'SE', url: `${storage.origin}/vo/f`, expires: LATER, ...change },
  });
  const storeOf = (placeOf: (file: NewOutput, request: number) => Place): OutputStore => {
    const service = {
      openOutputs: (_: RunOrder, files: readonly NewOutput[]) => {
        asked.push(files.map((file) => ({ ...file, failed: [...file.failed] })));
        const places = files.map((file) => ({ name: file.name, ...placeOf(file, asked.length) }));
        return Promise.resolve(places as OpenedOutput[]);
      },
      arrivedOutputs: (_: RunOrder, names: readonly string[]) =>
        Promise.resolve(names.map((name) => ({ name }))),
    };
    return new OutputStore({ service, config: { storageTimeout: 5 }, storageCa: true }, [0, 0]);
  };
  const store = (outputs: OutputStore, names = ['f']): Promise<string[]> => {
    const OutputData = names.map((name) => ({ name }));
    const manifest = { VirtualOrganization: 'vo', Owner: 'alice', OutputData };
    const order = { jid: 7n, attempt: 1, manifest };
    const places = { directory, files: new Map<string, string>(), uid: undefined };
    return outputs.store(order as unknown as RunOrder, places, new AbortController().signal);
  };

  it('are let in anew at the same element where what let them in has ended meanwhile', async () => {
    const ended = { headers: { Authorization: OLD }, expires: EARLIER };
    await store(storeOf((_, request) => (request < 3 ? at(ended) : at())));
    expect(asked.map(([file]) => file?.failed)).toEqual([[], [], []]);
    expect(kept).toEqual([TEXT]);
  });

  it('go to another element where what is still good is refused', async () => {
    const closed = { se: 'SE-CLOSED', headers: { Authorization: OLD } };
    storage.play((response, request) => {
      request.resume();
      const isClosed = request.headers.authorization === OLD;
      response.writeHead(isClosed ? 403 : 201).end();
    });
    await store(storeOf(({ failed }) => (failed.length === 0 ? at(closed) : at())));
    expect(asked.map(([file]) => file?.failed)).toEqual([[], ['SE-CLOSED']]);
  });

  it('are told by their MD5 only where it is needed, and then at once', async () => {
    const s3 = storeOf(({ md5 }) => (md5 === undefined ? { needs: 'md5' } : at()));
    await store(s3);
    await store(s3);
    expect(asked.map(([file]) => file?.md5)).toEqual([undefined, MD5, MD5]);
    expect(kept).toEqual([TEXT, TEXT]);
  });

  it('are refused where they have changed meanwhile', async () => {
    const changing = storeOf(() => {
      writeFileSync(join(directory, 'f'), 'other bytes of it');
      return { needs: 'md5' };
    });
    const refused = store(changing);
    await expect(refused).rejects.toThrow(StoreFault);
    await expect(refused).rejects.toThrow('f has changed while it was stored');
    expect(kept).toEqual([]);
  });

  it('are whole where they are larger than what is read at once, and empty ones, too', async () => {
    const large = 'x'.repeat(600_000);
    writeFileSync(join(directory, 'g'), large);
    writeFileSync(join(directory, 'h'), '');
    await store(
      storeOf(() => at()),
      ['g', 'h'],
    );
    expect(kept.sort()).toEqual(['', large]);
    const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(asked.flat().map(({ size, sha256 }) => [size, sha256])).toEqual([
      [large.length, sha256Of(large)],
      [0, sha256Of('')],
    ]);
  });
});
