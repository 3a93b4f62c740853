import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { Problem, Slices } from '#src/kernel/index.js';
import { setTurn, type Turn } from '#src/platform/http/caller-turns.js';
import { readConfig, type HttpRequest } from '#src/platform/index.js';
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

it('does not call a form broken whose turn came too late', async () => {
  const part = 'Content-Disposition: form-data; name="manifest"';
  const body = Readable.from([Buffer.from(`--x\r\n${part}\r\n\r\n{}\r\n--x--\r\n`)]);
  const headers = { 'content-type': 'multipart/form-data; boundary=x' };
  const request = Object.assign(body, { headers }) as unknown as HttpRequest;
  const late = new Problem('service.overloaded', 'too late', { retryAfterSeconds: 1 });
  const enter = jest.fn<() => Promise<void>>().mockRejectedValueOnce(late);
  setTurn(request, { leave: () => undefined, enter } as unknown as Turn);
  const reading = new MultipartReading(request, directory, readConfig({}));
  await expect(reading.finished()).rejects.toBe(late);
});
