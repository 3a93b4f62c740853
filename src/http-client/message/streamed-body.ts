import { createReadStream, ReadStream } from 'node:fs';
import { UnrewindableBodyError } from './errors.js';
import type { BodyChunk, BodyStream, FileContent } from './types.js';

/** A body made of parts that can be produced again as long as all its sources can. */
export class StreamedBody implements AsyncIterable<BodyChunk> {
  constructor(
    readonly produce: () => AsyncGenerator<BodyChunk>,
    readonly sources: readonly FileContent[],
  ) {}

  [Symbol.asyncIterator](): AsyncGenerator<BodyChunk> {
    return this.produce();
  }
}

const started = new WeakSet<object>();

/**
 * The stream to read for sending a body: itself the first time. Later (a 307 or 308, or a request that is sent again)
 * a stream that starts over with each iteration, or a file's stream opened anew. Throws UnrewindableBodyError for
 * generators and other streams that can be read once.
 */
export function readableBody(body: BodyStream): BodyStream {
  if (!started.has(body)) {
    started.add(body);
    return body;
  }
  if (body instanceof ReadStream && typeof body.path === 'string') return reopened(body);
  if (!startsOver(body)) {
    throw new UnrewindableBodyError(
      'the body would have to be sent again, but it can be read only once',
    );
  }
  return body;
}

function startsOver(body: FileContent): boolean {
  if (typeof body === 'string' || body instanceof Uint8Array || body instanceof Blob) return true;
  if (body instanceof StreamedBody) return body.sources.every(startsOver);
  // Node streams and web streams give a new iterator, but of the same, spent content.
  if ('pipe' in body || 'getReader' in body) return false;
  const iterable = body as Partial<AsyncIterable<BodyChunk> & Iterable<BodyChunk>>;
  const own = iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]?.();
  return own !== (body as unknown);
}

function reopened(file: ReadStream): ReadStream {
  const { start, end } = file as ReadStream & { start?: number; end?: number };
  const range = {
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  };
  return createReadStream(file.path, range);
}
