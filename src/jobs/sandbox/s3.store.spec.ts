import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Logger } from '#src/runtime/index.js';
import { S3SandboxStore } from './s3.store.js';

const WHOLE = Buffer.from('0123456789');
const hash = 'ab'.repeat(32);

/** A bucket with one object, which may have become shorter. */
class Bucket {
  content = WHOLE;
  readonly server: Server = createServer((request, response) => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const { length } = this.content;
    if (start !== undefined && Number(start) >= length) {
      response.writeHead(416).end('<Error><Code>InvalidRange</Code></Error>');
      return;
    }
    const part = this.content.subarray(Number(start ?? 0), Number(end ?? length) + 1);
    const range = `bytes ${start}-${Number(start) + part.length - 1}/${length}`;
    response.writeHead(start === undefined ? 200 : 206, {
      'content-length': part.length,
      ...(start !== undefined && { 'content-range': range }),
    });
    response.end(request.method === 'HEAD' ? undefined : part);
  });
}

describe('the S3 store', () => {
  const bucket = new Bucket();
  let store: S3SandboxStore;

  beforeAll(async () => {
    await once(bucket.server.listen(0, '127.0.0.1'), 'listening');
    const { port } = bucket.server.address() as AddressInfo;
    store = new S3SandboxStore(
      {
        ...{ bucket: 'b', prefix: '', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1' },
        ...{ accessKey: 'a', secretKey: 's', presign: true, timeoutMs: 5_000 },
      },
      {} as Logger,
    );
  });
  afterAll(async () => {
    await store.close();
    bucket.server.close();
  });

  const sizeBytes = WHOLE.length;
  const range = { start: 7, end: 9 };

  it('answers the bytes that were kept', async () => {
    bucket.content = WHOLE;
    expect(await buffer(await store.open(hash, { sizeBytes }))).toEqual(WHOLE);
    expect((await buffer(await store.open(hash, { sizeBytes, range }))).toString()).toBe('789');
    expect(await store.presign?.({ hash, sizeBytes }, 'x')).toContain('X-Amz-Signature');
  });

  it.each([0, 4, 8])('refuses an object with %i bytes left in every way to it', async (left) => {
    bucket.content = WHOLE.subarray(0, left);
    const problem = `a sandbox is damaged: ${left} bytes are there, and 10 were kept`;
    await expect(store.open(hash, { sizeBytes })).rejects.toThrow(problem);
    await expect(store.open(hash, { sizeBytes, range })).rejects.toThrow(problem);
    await expect(store.presign?.({ hash, sizeBytes }, 'x')).rejects.toThrow(problem);
  });
});
