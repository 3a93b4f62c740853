import { pipeline, type Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzip,
  gunzipSync,
  inflate,
  inflateRaw,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib';
import {
  ContentDecodingError,
  errorCode,
  RequestException,
  ResponseTooLarge,
} from '../message/errors.js';
import type { ResponseStream } from '../message/messages.js';

interface Coding {
  sync(bytes: Buffer, options: ZlibOptions): Buffer;
  async(bytes: Buffer, options: ZlibOptions): Promise<Buffer>;
  stream(firstBytes: Buffer): Transform;
}

/** Below this size decompressing in the calling thread is quicker than a trip to the pool. */
const SYNC_BELOW_BYTES = 16_384;

const GZIP: Coding = {
  sync: gunzipSync,
  async: promisify<Buffer, ZlibOptions, Buffer>(gunzip),
  stream: () => createGunzip(),
};
const BROTLI: Coding = {
  sync: (bytes, { maxOutputLength }) => brotliDecompressSync(bytes, limit(maxOutputLength)),
  async: (bytes, { maxOutputLength }) => promisify(brotliDecompress)(bytes, limit(maxOutputLength)),
  stream: () => createBrotliDecompress(),
};
const ZLIB: Coding = {
  sync: inflateSync,
  async: promisify<Buffer, ZlibOptions, Buffer>(inflate),
  stream: () => createInflate(),
};
const RAW: Coding = {
  sync: inflateRawSync,
  async: promisify<Buffer, ZlibOptions, Buffer>(inflateRaw),
  stream: () => createInflateRaw(),
};

/** The codings of a Content-Encoding header in the order in which they are undone; null when one is unknown. */
export function contentCodings(header: string | undefined): string[] | null {
  if (!header) return [];
  const names = header
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse();
  const isKnown = names.every((name) => /^(?:x-)?gzip$|^deflate$|^br$/.test(name));
  return isKnown ? names : null;
}

/** Undoes the codings of a whole body; throws ResponseTooLarge beyond `limitBytes`, ContentDecodingError when broken. */
export async function decodeContent(
  bytes: Buffer,
  codings: readonly string[],
  limitBytes: number | null,
): Promise<Buffer> {
  let decoded = bytes;
  for (const name of codings) {
    if (decoded.length === 0) return decoded;
    const coding = codingOf(name, decoded);
    const options = limitBytes === null ? {} : { maxOutputLength: Math.max(limitBytes, 1) };
    try {
      decoded =
        decoded.length < SYNC_BELOW_BYTES
          ? coding.sync(decoded, options)
          : await coding.async(decoded, options);
    } catch (error) {
      throw decodingFailure(error, name, limitBytes);
    }
  }
  if (limitBytes !== null && decoded.length > limitBytes) throw tooLarge(limitBytes);
  return decoded;
}

/** Undoes the codings of a streamed body as it is read, with the same limits and errors. */
export function decodeStream(
  source: Readable,
  codings: readonly string[],
  limitBytes: number | null,
): ResponseStream {
  return {
    [Symbol.asyncIterator]: () => readDecoded(source, codings, limitBytes),
    destroy: () => void source.destroy(),
  };
}

/** The error for a body that is too large. */
export function tooLarge(limitBytes: number): ResponseTooLarge {
  return new ResponseTooLarge(`the body is larger than ${limitBytes} bytes`);
}

async function* readDecoded(
  source: Readable,
  codings: readonly string[],
  limitBytes: number | null,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  try {
    for await (const chunk of codings.reduce<AsyncIterable<Buffer>>(decodedBy, source)) {
      total += chunk.length;
      if (limitBytes !== null && total > limitBytes) throw tooLarge(limitBytes);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof RequestException || !isZlibError(error)) throw error;
    throw decodingFailure(error, codings.join(', '), limitBytes);
  } finally {
    source.destroy();
  }
}

/** `deflate` means zlib, but some servers send raw deflate, so the first chunk decides. */
async function* decodedBy(source: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return;
  async function* whole(): AsyncGenerator<Buffer> {
    yield first.value as Buffer;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const transform = codingOf(name, first.value).stream(first.value);
  pipeline(whole, transform, () => undefined);
  yield* transform as AsyncIterable<Buffer>;
}

function codingOf(name: string, firstBytes: Buffer): Coding {
  if (name === 'br') return BROTLI;
  if (name !== 'deflate') return GZIP;
  const [first = 0, second = 0] = firstBytes;
  const isZlib = (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
  return isZlib ? ZLIB : RAW;
}

function decodingFailure(error: unknown, name: string, limitBytes: number | null): Error {
  if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE' && limitBytes !== null)
    return tooLarge(limitBytes);
  return new ContentDecodingError(`the body is not valid ${name}`, { cause: error });
}

function isZlibError(error: unknown): boolean {
  return /^(?:Z_|ERR_BROTLI|ERR__ERROR)/.test(errorCode(error) ?? '');
}

function limit(maxOutputLength: number | undefined): { maxOutputLength?: number } {
  return maxOutputLength === undefined ? {} : { maxOutputLength };
}
