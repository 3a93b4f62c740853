import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Slices } from '#src/kernel/index.js';
import { readConfig } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { MultipartReading } from './multipart-reading.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gridgate-multipart-'));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

// Each bit says whether others have a turn behind that piece, as on a busy machine. Behind the first two, the last file
// stood open when the form was given up, and its end was waited for.
it.each([0, 1, 2, 3, 4, 5, 6, 7])('refuses files that are too large, turns %d', async (turns) => {
  let pieces = 0;
  jest
    .spyOn(Slices.prototype, 'isOver', 'get')
    .mockImplementation(() => ((turns >> pieces++) & 1) === 1);
  jest
    .spyOn(Slices.prototype, 'rest')
    .mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 20)));
  const part = 'Content-Disposition: form-data; name="f"; filename=';
  const text = ['a', 'b']
    .map((name) => `--x\r\n${part}"${name}"\r\n\r\n${'y'.repeat(3_000)}\r\n`)
    .join('');
  const body = Readable.from([Buffer.from('-'), Buffer.from(`${text.slice(1)}--x--\r\n`)]);
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const request = Object.assign(body, { headers }) as unknown as HttpRequest;
  const config = readConfig({ GRID_MAX_SANDBOX: '5000' });
  await expect(new MultipartReading(request, directory, config).finished()).rejects.toThrow(
    'The files are larger than 5000 bytes together',
  );
});

describe('a spool that fails', () => {
  const FILE_BYTES = 40;
  const FULL = Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });

  /** Takes so many bytes of all files together, and fails with the next one, or when it is opened. */
  function failingAt(most: number, error: Error, delayMs = 0): (path: string) => Writable {
    let taken = 0;
    return () =>
      new Writable({
        highWaterMark: delayMs > 0 ? 65_536 : 1,
        construct: (done) => done(most < 0 ? error : null),
        write(chunk: Buffer, _encoding, done) {
          taken += chunk.length;
          const isOver = taken > most;
          const end = (): void => done(isOver ? error : null);
          if (isOver && delayMs > 0) setTimeout(end, delayMs);
          else setImmediate(end);
        },
      });
  }

  function requestOf(fileBytes: number, chunkBytes: number): HttpRequest {
    const part = (name: string, content: string): string =>
      `--x\r\nContent-Disposition: form-data; name="${name}"${content}\r\n`;
    const file = (name: string): string =>
      part(name, `; filename="${name}"\r\n\r\n${'y'.repeat(fileBytes)}`);
    const text = `${part('manifest', '\r\n\r\n{}')}${file('a')}${file('b')}--x--\r\n`;
    const body = Buffer.from(text);
    const chunks = Array.from({ length: Math.ceil(body.length / chunkBytes) }, (_, index) =>
      body.subarray(index * chunkBytes, (index + 1) * chunkBytes),
    );
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    return Object.assign(Readable.from(chunks), { headers }) as unknown as HttpRequest;
  }

  /** What becomes of a form, and whether its body is read to the end then. */
  async function outcomeOf(
    request: HttpRequest,
    open: (path: string) => Writable,
  ): Promise<{ error: unknown; isRead: boolean }> {
    const reading = new MultipartReading(request, directory, readConfig({}), open);
    const error = await reading.finished().catch((fault: unknown) => fault);
    return { error, isRead: request.readableEnded };
  }

  const refused = {
    error: expect.objectContaining({
      code: 'service.unavailable',
      detail: 'The service cannot do this now, since its disk is full: send it again later',
      retryAfterSeconds: 10,
    }),
    isRead: true,
  };

  it.each([1, 7, 1_000])('refuses the form at whichever byte, in chunks of %d', async (chunk) => {
    for (let at = -1; at < 2 * FILE_BYTES; at += 1) {
      const request = requestOf(FILE_BYTES, chunk);
      expect({ at, ...(await outcomeOf(request, failingAt(at, FULL))) }).toEqual({
        at,
        ...refused,
      });
    }
    const whole = await outcomeOf(requestOf(FILE_BYTES, chunk), failingAt(2 * FILE_BYTES, FULL));
    expect(whole.error).toMatchObject({ manifests: ['{}'], files: [{ name: 'a' }, { name: 'b' }] });
  });

  it.each([-1, 0, 1, 65_535, 65_536, 300_000, 599_999])(
    'waits for nothing more of a large form after byte %d',
    async (at) => {
      const request = requestOf(300_000, 65_536);
      expect(await outcomeOf(request, failingAt(at, FULL))).toEqual(refused);
    },
  );

  it.each([-1, 0, 1, 39, 40, 41, 79])(
    'refuses a form that has been read to its end when byte %d fails',
    async (at) => {
      const request = requestOf(FILE_BYTES, 1_000);
      expect(await outcomeOf(request, failingAt(at, FULL, 20))).toEqual(refused);
    },
  );

  it.each([300_000, 540_000, 570_000, 599_000, 599_999])(
    'refuses a large form that has been read to its end when byte %d fails',
    async (at) => {
      const request = requestOf(300_000, 65_536);
      expect(await outcomeOf(request, failingAt(at, FULL, 20))).toEqual(refused);
    },
  );

  it('calls what is no fault of the machine a fault of the program', async () => {
    const error = Object.assign(new Error('EACCES'), { code: 'EACCES' });
    const outcome = await outcomeOf(requestOf(300_000, 65_536), failingAt(3, error));
    expect(outcome.error).toMatchObject({ code: 'service.failure', cause: error });
  });
});
