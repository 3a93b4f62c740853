import { pipeline } from 'node:stream/promises';
import { Transform, type Writable } from 'node:stream';
import type { ByteRange } from '#src/http/index.js';
import { SandboxDamagedError } from './sandbox.store.js';

/**
 * Copies a stream to the response, of which the bytes of a range were promised: one that ends before is an error, and cuts the
 * connection, where the reader of a response that merely ended would wait for the rest.
 */
export async function copyTo(
  source: NodeJS.ReadableStream,
  target: Writable,
  { start, end }: ByteRange,
): Promise<void> {
  let left = end + 1 - start;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      done(null, chunk);
    },
    flush(done) {
      const cut = `${left} of its bytes went away while it was sent`;
      done(left === 0 ? null : new SandboxDamagedError(cut));
    },
  });
  await pipeline(source, counted, target);
}
