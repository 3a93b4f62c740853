import { Readable } from 'node:stream';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { plainInScopes, StorageTokens } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { ByteRange } from '#src/http/index.js';
import { type Clock, CLOCK, Problem, randomId } from '#src/kernel/index.js';
import { addressOf, audienceOf, type AddressedElement } from '#src/registry/index.js';
import { TrustedCas } from '#src/runtime/index.js';
import { ElementFault } from './element-fault.js';
import { S3Addresses, type MakeCommand } from './s3-addresses.js';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 307, 308]);
/** Of an answer whose body does not count, so much is read before its connection is cut. */
const MOST_IGNORED_BYTES = 16_384;
const MAX_CONNECT_SECONDS = 10;
const SIGNED_MS = 300_000;
const ADLER32_OF_NOTHING = '00000001';

type Method = 'GET' | 'HEAD' | 'DELETE';
/** Written as usual: xrootd 5.5.3 finds no `authorization`. */
type Headers = Record<string, string>;

const COMMANDS: Record<Method, MakeCommand> = {
  GET: (s3, object) => new s3.GetObjectCommand(object),
  HEAD: (s3, object) => new s3.HeadObjectCommand(object),
  DELETE: (s3, object) => new s3.DeleteObjectCommand(object),
};

/** What a storage element says of a file. */
export interface StoredFile {
  size: number;
  /** Eight digits; absent where it does not say. */
  adler32?: string;
}

/** Bytes of a file that come from a storage element. */
export interface OpenFile {
  /** Of the whole file. */
  size: number;
  /** The bytes of the range, or all. Fails with ElementFault. */
  bytes: Readable;
}

interface Exchange {
  method: Method;
  path: string;
  /** The path for which the token is made; left out: the same. */
  opens?: string;
  headers?: Headers;
  signal?: AbortSignal | undefined;
}

/**
 * How the service itself speaks to storage elements, with tokens and signed addresses of its own for the one path. Every method
 * throws ElementFault, Problem 503 while the keys of S3 cannot be read, and 409 `catalogue.no-address` for a path that does not lie there.
 */
@Injectable()
export class StorageElements implements OnApplicationShutdown {
  private readonly agent: Agent;

  constructor(
    private readonly tokens: StorageTokens,
    private readonly s3: S3Addresses,
    @Inject(CONFIG) { storageCa, storageTimeout }: Pick<Config, 'storageCa' | 'storageTimeout'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    const trust = new TrustedCas(storageCa);
    const timeout = Math.min(storageTimeout, MAX_CONNECT_SECONDS) * 1_000;
    const ms = storageTimeout * 1_000;
    this.agent = new Agent({
      ...{ headersTimeout: ms, bodyTimeout: ms },
      connect: (options, callback) => {
        const settings = { timeout, allowH2: false, maxCachedSessions: 0 };
        void Promise.resolve(trust.get()).then(
          (secureContext) =>
            buildConnector({ ...settings, ...(secureContext && { secureContext }) })(
              options,
              callback,
            ),
          (cause: unknown) => {
            const text = 'The CAs of the storage elements (GRID_STORAGE_CA) cannot be read';
            callback(Problem.unavailable(text, { cause }), null);
          },
        );
      },
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }

  /** Undefined: it is not there. */
  async stat(element: AddressedElement, path: string): Promise<StoredFile | undefined> {
    const head = (headers: Headers) => this.whole(element, { method: 'HEAD', path, headers });
    let answer = await head({ 'Want-Digest': 'adler32' });
    const adler32 = adler32Of(answer);
    // An xrootd without checksums answers 500 to who wants one, and some versions a length of 0 to others.
    const isOdd = sizeOf(answer) === 0 && adler32 !== ADLER32_OF_NOTHING;
    if (answer.statusCode === 500 || isOdd) answer = await head({});
    if (answer.statusCode === 404) return undefined;
    if (answer.statusCode !== 200) throw ElementFault.ofStatus(element.name, answer.statusCode);
    const size = sizeOf(answer);
    if (size === undefined) throw new ElementFault(element.name, 'odd', 'tells no size');
    return { size, ...(adler32 !== undefined && { adler32 }) };
  }

  /**
   * Looks at a path of the directory where nothing is. Answers whether a token for a name opens other names that begin with it, as at xrootd
   * before 5.6.9.
   */
  async opensByLetters(element: AddressedElement, directory: string): Promise<boolean> {
    const path = `${directory.replace(/\/$/, '')}/gridgate-${randomId()}`;
    await this.stat(element, path);
    if (element.kind === 's3') return false;
    const other = { method: 'HEAD', path: `${path}x`, opens: path } as const;
    const { statusCode } = await this.whole(element, other);
    if ([401, 403].includes(statusCode)) return false;
    if (statusCode === 404 || (statusCode >= 200 && statusCode < 300)) return true;
    throw ElementFault.ofStatus(element.name, statusCode);
  }

  /** Undefined: it is not there. For a range beyond the end it has no bytes. */
  async open(
    element: AddressedElement,
    path: string,
    { range, signal }: { range?: ByteRange | undefined; signal?: AbortSignal } = {},
  ): Promise<OpenFile | undefined> {
    const headers: Headers = range ? { Range: `bytes=${range.start}-${range.end}` } : {};
    const answer = await this.ask(element, { method: 'GET', path, headers, signal });
    const size = wholeSizeOf(answer, range);
    if (size !== undefined) return { size, bytes: bytesOf(element, answer.body, signal) };
    await ignore(answer);
    const { statusCode } = answer;
    if (statusCode === 404) return undefined;
    if (statusCode !== 416) throw ElementFault.ofStatus(element.name, statusCode);
    const stored = await this.stat(element, path);
    if (range && stored && stored.size > range.start)
      throw ElementFault.ofStatus(element.name, 416);
    return stored && { size: stored.size, bytes: Readable.from([]) };
  }

  /** That it is not there is success. */
  async remove(element: AddressedElement, path: string, signal?: AbortSignal): Promise<void> {
    const { statusCode } = await this.whole(element, { method: 'DELETE', path, signal });
    if (statusCode !== 404 && (statusCode < 200 || statusCode > 299)) {
      throw ElementFault.ofStatus(element.name, statusCode);
    }
  }

  /** An answer without its body. */
  private async whole(
    element: AddressedElement,
    exchange: Exchange,
  ): Promise<Dispatcher.ResponseData> {
    const answer = await this.ask(element, exchange);
    await ignore(answer);
    return answer;
  }

  /** Follows redirects, as clusters answer with; the header is for the origin of the element alone. */
  private async ask(
    element: AddressedElement,
    { headers = {}, signal, ...exchange }: Exchange,
  ): Promise<Dispatcher.ResponseData> {
    const { method } = exchange;
    const { address, key } = await this.keyOf(element, exchange);
    let target = address;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { origin, pathname, search } = target;
      const own = origin === address.origin ? key : {};
      const answer = await this.agent
        .request({
          ...{ origin, path: pathname + search, method, headers: { ...headers, ...own } },
          // The connection is kept after HEAD, too, which undici would close.
          reset: false,
          ...(signal && { signal }),
        })
        .catch((error: unknown) => {
          signal?.throwIfAborted();
          throw error instanceof Problem ? error : ElementFault.ofError(element.name, error);
        });
      if (!REDIRECTS.has(answer.statusCode)) return answer;
      await ignore(answer);
      const next = URL.parse(String(answer.headers['location']), target.href);
      if (next?.protocol !== 'https:' && next?.protocol !== address.protocol) break;
      target = next;
    }
    throw new ElementFault(element.name, 'odd', 'answers with a redirect that is not followed');
  }

  private async keyOf(
    element: AddressedElement,
    { method, path, opens = path }: Exchange,
  ): Promise<{ address: URL; key: Headers }> {
    const url = addressOf(element, path);
    if (url === undefined) {
      throw new Problem('catalogue.no-address', `${path} has no address at ${element.name}`);
    }
    if (element.kind === 's3') {
      const end = new Date(this.clock.now() + SIGNED_MS);
      const command = COMMANDS[method];
      const signed = await this.s3.sign(element, { urls: [url], end, command });
      return { address: new URL(signed.get(url)?.presigned ?? url), key: {} };
    }
    const isRead = method !== 'DELETE';
    const token = await this.tokens.ofService({
      audience: audienceOf(element),
      rights: isRead ? ['read'] : ['read', 'modify'],
      path: isRead ? plainInScopes(opens) : opens,
    });
    return { address: new URL(url), key: { Authorization: `Bearer ${token}` } };
  }
}

async function ignore({ body }: Dispatcher.ResponseData): Promise<void> {
  const patience = AbortSignal.timeout(1_000);
  await body.dump({ limit: MOST_IGNORED_BYTES, signal: patience }).catch(() => undefined);
}

/** The body, whose errors say nothing of addresses. */
function bytesOf(
  { name }: AddressedElement,
  body: Readable,
  signal: AbortSignal | undefined,
): Readable {
  const bytes = async function* (): AsyncGenerator<Buffer> {
    try {
      yield* body as AsyncIterable<Buffer>;
    } catch (error) {
      signal?.throwIfAborted();
      throw ElementFault.ofError(name, error);
    }
  };
  const named = Readable.from(bytes(), { objectMode: false });
  // Whoever does not begin to read leaves the generator unstarted, and the connection taken.
  body.on('error', () => undefined);
  named.once('close', () => body.destroy());
  return named;
}

function sizeOf({ headers }: Dispatcher.ResponseData): number | undefined {
  const text = String(headers['content-length']);
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The size of the file of which the answer has what was asked for; undefined when it has something else. */
function wholeSizeOf(
  answer: Dispatcher.ResponseData,
  range: ByteRange | undefined,
): number | undefined {
  const length = sizeOf(answer);
  if (!range) return answer.statusCode === 200 ? length : undefined;
  if (answer.statusCode !== 206) return undefined;
  const text = String(answer.headers['content-range']);
  const [, first, last, whole] = /^bytes (\d+)-(\d+)\/(\d{1,15})$/.exec(text) ?? [];
  const isIt = Number(first) === range.start && Number(last) === range.end;
  return isIt && length === range.end + 1 - range.start ? Number(whole) : undefined;
}

function adler32Of({ headers }: Dispatcher.ResponseData): string | undefined {
  const [, digits] =
    /(?:^|[\s,])adler32=([\da-f]{1,8})(?![\da-f])/i.exec(String(headers['digest'])) ?? [];
  return digits?.padStart(8, '0').toLowerCase();
}
