import { createHash } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { readAuthorities } from '#src/http-client/index.js';
import { Adler32 } from './adler32.js';
import { ReplicaFault, type Address } from './replica-bytes.js';

const MAX_HOPS = 5;
const MAX_ANSWER_BYTES = 65_536;
/** One that takes longer than so many silences, and fewer bytes a second than these, is as good as away. */
const SILENCES = 10;
const LEAST_RATE = 20_000;
/** What a timer can wait for. */
const MOST_MS = 2_000_000_000;
const OF_CERTIFICATES = /^(CERT|UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|ERR_TLS)/;
const TEXTS: Record<number, string> = {
  403: 'something lies there already, or it does not accept tokens of this service',
  409: 'something lies there already',
  412: 'something lies there already',
  413: 'the file is too large',
  507: 'it is full',
};

/** What tells bytes apart; checksums hexadecimal. */
export interface Digests {
  size: number;
  adler32: string;
  sha256: string;
  /** As costly as the others together, and for S3 alone. */
  md5?: string;
}

/** The digests of bytes, in one pass. */
export async function digestsOf(
  bytes: AsyncIterable<Uint8Array>,
  { withMd5 = false } = {},
): Promise<Digests> {
  const [adler32, sha256] = [new Adler32(), createHash('sha256')];
  const md5 = withMd5 ? createHash('md5') : undefined;
  let size = 0;
  for await (const piece of bytes) {
    adler32.update(piece);
    sha256.update(piece);
    md5?.update(piece);
    size += piece.length;
  }
  const sums = { size, adler32: adler32.hex, sha256: sha256.digest('hex') };
  return { ...sums, ...(md5 && { md5: md5.digest('hex') }) };
}

/** What is sent, and how. */
export interface Sending {
  size: number;
  /** All of the bytes, each time anew. */
  bytes: () => AsyncIterable<Uint8Array>;
  /** File or directory of CAs; true: those of the machine. */
  ca: string | true;
  silenceMs: number;
  signal?: AbortSignal;
}

/**
 * Writes bytes to an address. They go anew to where the storage sends them, without its own header. Throws ReplicaFault, what
 * reading them throws, and the reason of the signal; only who looks at the storage knows then what is there.
 */
export async function sendBytes(
  { url, presigned = url, headers = {} }: Address,
  sending: Sending,
): Promise<void> {
  const { size, silenceMs, signal } = sending;
  const mostMs = Math.ceil(SILENCES * silenceMs + (size / LEAST_RATE) * 1000);
  const patience = AbortSignal.timeout(Math.min(MOST_MS, mostMs));
  const ends = signal ? AbortSignal.any([signal, patience]) : patience;
  let target = new URL(presigned);
  for (let hops = 0; hops <= MAX_HOPS; hops += 1) {
    const own = target.origin === new URL(url).origin ? headers : {};
    const { status, location } = await put(target, own, { ...sending, signal: ends }).catch(
      (error: unknown) => {
        if (error !== patience.reason) throw error;
        throw new ReplicaFault('away', 'it is too slow', { cause: error });
      },
    );
    const next = location === undefined ? null : URL.parse(location, target.href);
    if (![307, 308].includes(status) || next === null) {
      if (status >= 200 && status < 300) return;
      const kind = TEXTS[status] === undefined ? 'away' : 'closed';
      throw new ReplicaFault(kind, `${TEXTS[status] ?? 'it failed'} (${status})`);
    }
    if (next.protocol !== 'https:' && next.protocol !== target.protocol)
      throw new ReplicaFault('closed', 'it sends elsewhere without TLS');
    target = next;
  }
  throw new ReplicaFault('away', 'it sends elsewhere again and again');
}

/** Gives up on one that says more than there is to say. */
async function readToEnd(answer: AsyncIterable<Uint8Array>): Promise<void> {
  let size = 0;
  for await (const piece of answer) {
    size += piece.length;
    if (size > MAX_ANSWER_BYTES) return;
  }
}

/** By the client of Node: that of undici writes the names of headers in small letters, among which xrootd 5.5.3 does not find the length. */
async function put(
  target: URL,
  headers: Readonly<Record<string, string>>,
  { size, bytes, ca, silenceMs, signal }: Sending,
): Promise<{ status: number; location: string | undefined }> {
  const isPlain = target.protocol === 'http:';
  const request = (isPlain ? plainRequest : tlsRequest)(target, {
    ...{ method: 'PUT', headers: { ...headers, 'Content-Length': size } },
    ...(!isPlain && ca !== true && { ca: readAuthorities(ca) }),
    ...(signal && { signal }),
  });
  request.setTimeout(silenceMs, () => request.destroy(new ReplicaFault('away', 'it is silent')));
  let unread: { error: unknown } | undefined;
  const source = async function* (): AsyncGenerator<Uint8Array> {
    let sent = 0;
    try {
      for await (const piece of bytes()) {
        sent += piece.length;
        if (sent > size) break;
        yield piece;
      }
      if (sent !== size) throw new ReplicaFault('other', 'the file has changed meanwhile');
    } catch (error) {
      unread = { error };
      throw error;
    }
  };
  try {
    return await new Promise((resolve, reject) => {
      request.on('response', (answer) => {
        const { statusCode: status = 0, headers: told } = answer;
        const answered = (): void => resolve({ status, location: told.location });
        // It may refuse before it has read everything; else the next file goes over the same connection.
        if (request.writableFinished) void readToEnd(answer).then(answered, answered);
        else answered();
      });
      request.on('error', reject);
      pipeline(source(), request).catch(reject);
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (unread) throw unread.error;
    if (error instanceof ReplicaFault) throw error;
    const code = String((error as NodeJS.ErrnoException).code);
    const text = OF_CERTIFICATES.test(code)
      ? 'its certificate is not trusted'
      : `it cannot be reached (${code})`;
    throw new ReplicaFault('away', text, { cause: error });
  } finally {
    request.destroy();
  }
}
