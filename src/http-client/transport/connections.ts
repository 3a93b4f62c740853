import { Socket } from 'node:net';
import { Agent, buildConnector, Pool, ProxyAgent, type Dispatcher } from 'undici';
import { parseProxyUrl, proxyCredentials, select_proxy } from '../message/proxies.js';
import type { AdapterOptions, ClientCert, Verify } from '../message/types.js';
import { MOST_HEADER_BYTES } from './failures.js';
import { tlsKey, tlsSettings, type TlsSettings } from './tls-settings.js';
import { readUsually } from './usual-answers.js';

/** Sets of connections beyond this number are closed, the oldest first. */
const MAX_LINES = 32;

/** A tunnel that a proxy does not grant within this time is given up, whoever waits for it. */
const TUNNEL_TIMEOUT_MS = 60_000;

/** How to reach a URL: over which connections, at which origin, and whether a forwarding proxy gets the whole URL. */
export interface Route {
  line: Line;
  origin: string;
  /** Set when requests go to a forwarding proxy: they carry the absolute URL and these credentials. */
  forward?: { credentials: string | undefined; servername: string | undefined };
  /** True when a proxy stands between, in whichever way. */
  proxied: boolean;
}

/**
 * Connections that share TLS settings and proxy. Connecting has no time limit of its own: the exchange that waits
 * has one, and when the last one has given up, half-open sockets are destroyed.
 */
export class Line {
  readonly dispatcher: Dispatcher;
  #waiting = 0;
  #opening = new Set<Socket>();

  constructor(make: (track: (tls: TlsSettings) => buildConnector.connector) => Dispatcher) {
    this.dispatcher = make((tls) => this.#tracked(tls));
  }

  /** An exchange begins to wait for a connection. */
  enter(): void {
    this.#waiting += 1;
  }

  /** An exchange has its connection, or has given up. */
  leave(hasGivenUp: boolean): void {
    this.#waiting -= 1;
    if (!hasGivenUp || this.#waiting > 0) return;
    for (const socket of this.#opening) socket.destroy(new Error('nobody waits any more'));
  }

  async destroy(): Promise<void> {
    for (const socket of this.#opening) socket.destroy(new Error('the session was closed'));
    await this.dispatcher.destroy();
  }

  #tracked(tls: TlsSettings): buildConnector.connector {
    const connect = buildConnector({ ...tls, timeout: 0 });
    return (options, callback) => {
      // eslint-disable-next-line @typescript-eslint/no-confusing-void-expression -- it answers the socket, which its type hides
      const socket: unknown = connect(options, (...answer: Parameters<typeof callback>) => {
        if (socket instanceof Socket) this.#opening.delete(socket);
        if (answer[1]) readUsually(answer[1]);
        callback(...answer);
      });
      if (socket instanceof Socket) this.#opening.add(socket);
    };
  }
}

/** The connections of one adapter, by TLS settings and proxy. */
export class Connections {
  #direct: Line | undefined;
  #lines = new Map<string, Line>();

  /** The route for a URL under the options of a call. */
  route(url: URL, options: AdapterOptions): Route {
    const proxy = select_proxy(url.href, options.proxies);
    const isSecure = url.protocol === 'https:';
    const verify = isSecure ? options.verify : true;
    const cert = isSecure ? options.cert : null;
    if (proxy === undefined)
      return { line: this.#directLine(verify, cert), origin: url.origin, proxied: false };
    const proxyUrl = parseProxyUrl(proxy);
    if (isSecure) return this.#tunnel(url, proxyUrl, verify, cert);
    return this.#forward(proxyUrl, options.verify);
  }

  /** Ends everything, exchanges under way included. */
  async close(): Promise<void> {
    const lines = [...this.#lines.values()];
    if (this.#direct) lines.push(this.#direct);
    this.#direct = undefined;
    this.#lines.clear();
    await Promise.all(lines.map((line) => line.destroy()));
  }

  #directLine(verify: Verify, cert: ClientCert | null): Line {
    if (verify === true && cert === null) {
      this.#direct ??= new Line((track) => agent(track({})));
      return this.#direct;
    }
    const key = `direct|${tlsKey(verify, cert)}`;
    return this.#line(key, (track) => agent(track(tlsSettings(verify, cert))));
  }

  #forward(proxy: URL, verify: Verify): Route {
    const isSecure = proxy.protocol === 'https:';
    const line = this.#directLine(isSecure ? verify : true, null);
    const servername = isSecure ? proxy.hostname : undefined;
    const forward = { credentials: proxyCredentials(proxy), servername };
    return { line, origin: proxy.origin, forward, proxied: true };
  }

  #tunnel(url: URL, proxy: URL, verify: Verify, cert: ClientCert | null): Route {
    const key = `tunnel|${proxy.href}|${tlsKey(verify, cert)}`;
    const line = this.#line(key, (track) => {
      const requestTls = tlsSettings(verify, cert);
      const token = proxyCredentials(proxy);
      const connect = track(tlsSettings(verify, null));
      return new ProxyAgent({
        uri: `${proxy.protocol}//${proxy.host}`,
        ...(token === undefined ? {} : { token }),
        requestTls: { ...requestTls, timeout: 0 } as buildConnector.BuildOptions,
        factory: (origin, options) => new Pool(origin, usual(options)),
        clientFactory: (origin) =>
          new Pool(origin, { connect, headersTimeout: TUNNEL_TIMEOUT_MS, bodyTimeout: 0 }),
        headersTimeout: 0,
        bodyTimeout: 0,
        maxHeaderSize: MOST_HEADER_BYTES,
      });
    });
    return { line, origin: url.origin, proxied: true };
  }

  #line(key: string, make: ConstructorParameters<typeof Line>[0]): Line {
    const known = this.#lines.get(key);
    if (known) return known;
    const line = new Line(make);
    this.#lines.set(key, line);
    for (const [oldest, old] of this.#lines) {
      if (this.#lines.size <= MAX_LINES) break;
      this.#lines.delete(oldest);
      old.dispatcher.close().catch(() => undefined);
    }
    return line;
  }
}

/** The same options with a connector whose sockets are read as usual. */
function usual(options: Pool.Options): Pool.Options {
  const { connect } = options;
  if (typeof connect !== 'function') return options;
  return {
    ...options,
    connect: (to, callback) => {
      connect(to, (...answer: Parameters<typeof callback>) => {
        if (answer[1]) readUsually(answer[1]);
        callback(...answer);
      });
    },
  };
}

/** Timeouts are the exchange's own: they are exact and know when a reader pauses. */
function agent(connect: buildConnector.connector): Agent {
  return new Agent({
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MOST_HEADER_BYTES,
  });
}
