import { Readable } from 'node:stream';
import { isStream } from '../message/body-kinds.js';
import { InvalidSchema } from '../message/errors.js';
import type { PreparedRequest, Response } from '../message/messages.js';
import { itemsOf } from '../message/structures.js';
import { readableBody } from '../message/streamed-body.js';
import type {
  Adapter,
  AdapterOptions,
  BodyChunk,
  BodyStream,
  PreparedBody,
} from '../message/types.js';
import { Connections, type Route } from './connections.js';
import { Exchange } from './exchange.js';

/** Bodies in memory beyond this size go out in pieces, so that the read timeout sees them move. */
const PIECE_BYTES = 65_536;

/** Headers that the transport writes itself, or that speak of one connection only. */
const OWN_HEADERS = new Set(['transfer-encoding', 'keep-alive']);

/**
 * The adapter for http and https on undici: persistent connections, client certificates, CA bundles, forwarding and
 * tunnelling proxies. It sends what it is given and follows nothing.
 */
export class HttpAdapter implements Adapter {
  #connections = new Connections();

  /**
   * Sends the request. Rejects with ConnectTimeout, ReadTimeout, Timeout (deadline), ConnectionError, ProxyError,
   * SSLError, ResponseTooLarge, ContentDecodingError, or the reason of the aborted signal; an error that the
   * request's own body stream throws comes back unchanged.
   */
  async send(prepared: PreparedRequest, options: AdapterOptions): Promise<Response> {
    const url = new URL(prepared.url);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      throw new InvalidSchema(`this adapter does not speak ${url.protocol}`, { request: prepared });
    }
    const route = this.#connections.route(url, options);
    const exchange = new Exchange(prepared, options, route);
    try {
      if (!exchange.isOver) dispatch(prepared, url, route, exchange);
    } catch (error) {
      exchange.fail(error);
    }
    return exchange.response;
  }

  /** Ends all exchanges and connections. The adapter may be used again. */
  async close(): Promise<void> {
    await this.#connections.close();
  }
}

function dispatch(prepared: PreparedRequest, url: URL, route: Route, exchange: Exchange): void {
  route.line.dispatcher.dispatch(
    {
      origin: route.origin,
      path: route.forward ? absolutePath(url) : url.pathname + url.search,
      method: prepared.method,
      headers: wireHeaders(prepared, url, route),
      body: wireBody(prepared.body, exchange),
      ...serverName(prepared, url, route),
    },
    exchange,
  );
}

function absolutePath(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}

function wireHeaders(prepared: PreparedRequest, url: URL, route: Route): string[] {
  const headers: string[] = [];
  let hasHost = false;
  let hasProxyCredentials = false;
  for (const [lower, [name, value]] of itemsOf(prepared.headers)) {
    if (OWN_HEADERS.has(lower)) continue;
    if (lower === 'proxy-authorization') {
      // Only a forwarding proxy may see it; a tunnel sends its own with CONNECT.
      if (!route.forward) continue;
      hasProxyCredentials = true;
    }
    if (lower === 'host') hasHost = true;
    headers.push(name, value);
  }
  if (!route.forward) return headers;
  if (!hasHost) headers.push('Host', url.host);
  if (!hasProxyCredentials && route.forward.credentials !== undefined) {
    headers.push('Proxy-Authorization', route.forward.credentials);
  }
  return headers;
}

/** A Host header set by hand must not decide whose certificate is expected: that is the URL's matter. */
function serverName(prepared: PreparedRequest, url: URL, route: Route): { servername?: string } {
  if (route.forward) {
    return route.forward.servername === undefined ? {} : { servername: route.forward.servername };
  }
  if (url.protocol !== 'https:' || !prepared.headers.has('Host')) return {};
  return { servername: url.hostname };
}

function wireBody(body: PreparedBody, exchange: Exchange): string | Uint8Array | Readable | null {
  if (body === null) return null;
  if (body instanceof Blob) return watched(body.stream() as AsyncIterable<Uint8Array>, exchange);
  if (isStream(body)) return watched(readableBody(body), exchange);
  if (body.length <= PIECE_BYTES) return body;
  return watched(pieces(typeof body === 'string' ? Buffer.from(body) : body), exchange);
}

function* pieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** A stream that reports its progress, and whose own errors end the exchange as they are. */
function watched(source: BodyStream, exchange: Exchange): Readable {
  async function* chunks(): AsyncGenerator<BodyChunk> {
    try {
      for await (const chunk of source) {
        exchange.progress();
        if (chunk.length > 0) yield chunk;
      }
    } catch (error) {
      exchange.fail(error);
      throw error;
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}
