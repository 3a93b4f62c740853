import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import { buildConnector, Client } from 'undici';
import { CONFIG, type Config } from '#src/config/index.js';
import { TrustedCas } from '#src/runtime/index.js';
import { NOT_ALLOWED, TargetRefusal, TargetResolver } from './target-resolver.js';
import { hostOf } from './webhook-url.js';

/** Most bytes of an answer that are read before its connection is cut; nothing of them is kept. */
const MOST_ANSWER_BYTES = 16_384;
/** So long the rest of an answer is waited for, of which nothing is kept: some receivers work on until they have sent it. */
const ANSWER_MS = 1_000;
const MOST_HEADER_BYTES = 16_384;

/** What came of sending something once. */
export interface SendResult {
  /** Answered with 2xx. */
  isDelivered: boolean;
  /** Of the answer; undefined without one. */
  status?: number;
  /** There was no answer within the time. */
  isSilent?: boolean;
  /** Why it counts as not delivered, for the owner of the webhook. */
  error?: string;
  /** The receiver asks for so many seconds of peace (`Retry-After`). */
  retryAfterSeconds?: number;
}

/** What is sent. */
export interface Message {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * Sends messages to receivers: each on a connection of its own, to an address that was checked for this connection and is
 * connected to without another look at the name; no redirect is followed, and an answer is bounded in size and time.
 */
@Injectable()
export class Sender {
  /** Whom receivers may be vouched for by. */
  private readonly trust: TrustedCas;

  constructor(
    private readonly resolver: TargetResolver,
    @Inject(CONFIG) private readonly config: Pick<Config, 'webhookTimeout' | 'webhookCa'>,
  ) {
    this.trust = new TrustedCas(config.webhookCa);
  }

  /** Never throws for what the receiver does. Throws the signal's reason when it aborts. */
  async send(message: Message, signal: AbortSignal): Promise<SendResult> {
    const { webhookTimeout: seconds } = this.config;
    const timeout = AbortSignal.timeout(seconds * 1_000);
    const either = AbortSignal.any([signal, timeout]);
    try {
      return await this.exchange(message, either);
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted) return { ...failed(`no answer within ${seconds} s`), isSilent: true };
      return failed(error instanceof TargetRefusal ? error.message : reasonOf(error));
    }
  }

  private async exchange(
    { url, headers, body }: Message,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { origin, pathname, search } = new URL(url);
    const addresses = await within(signal, this.resolver.addressesOf(hostOf(url)));
    const client = new Client(origin, {
      connect: this.connector(addresses, await this.trust.get()),
      maxHeaderSize: MOST_HEADER_BYTES,
      headersTimeout: 0, // the signal ends it
      bodyTimeout: 0,
    });
    try {
      const path = pathname + search;
      const answer = await client.request({ path, method: 'POST', headers, body, signal });
      const patience = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      await answer.body.dump({ limit: MOST_ANSWER_BYTES, signal: patience }).catch(() => undefined);
      return resultOf(answer.statusCode, answer.headers['retry-after']);
    } finally {
      void client.destroy().catch(() => undefined);
    }
  }

  /** Connects to the addresses that were checked and to nothing else, whatever the name leads to by then. */
  private connector(
    addresses: readonly string[],
    secureContext: SecureContext | undefined,
  ): buildConnector.connector {
    const checked = addresses.map((address) => ({ address, family: isIP(address) }));
    const lookup: LookupFunction = (_host, { all }, callback) => {
      const [first] = checked;
      if (all === true) callback(null, checked);
      else callback(null, first?.address ?? '', first?.family ?? 4);
    };
    const timeout = this.config.webhookTimeout * 1_000;
    const trust = secureContext && { secureContext };
    const settings = { lookup, timeout, maxCachedSessions: 0, allowH2: false, ...trust };
    const connect = buildConnector(settings);
    return (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        if (this.resolver.rules.allows(socket.remoteAddress)) return callback(null, socket);
        socket.destroy();
        return callback(new TargetRefusal(NOT_ALLOWED), null);
      });
  }
}

/** The one form that is sent (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

function resultOf(status: number, retryAfter: string | string[] | undefined): SendResult {
  if (status >= 200 && status < 300) return { isDelivered: true, status };
  const isRedirect = status >= 300 && status < 400;
  const error = `answered ${status}${isRedirect ? '; redirects are not followed' : ''}`;
  const seconds = secondsUntil(String(retryAfter));
  const wish = seconds === undefined ? {} : { retryAfterSeconds: seconds };
  return { isDelivered: false, status, error, ...wish };
}

/** Seconds that `Retry-After` asks for (RFC 9110 §10.2.3), a number or a date; undefined for anything else. */
function secondsUntil(retryAfter: string): number | undefined {
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  if (!HTTP_DATE.test(retryAfter)) return undefined;
  const time = Date.parse(retryAfter);
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - Date.now()) / 1_000));
}

function failed(error: string): SendResult {
  return { isDelivered: false, error };
}

/** Name servers cannot be interrupted; nobody waits for them any longer. */
async function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'the receiver cannot be reached',
  ENETUNREACH: 'the receiver cannot be reached',
  ETIMEDOUT: 'the receiver cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'the receiver cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'the header of the answer is too large',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

function reasonOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return 'the exchange failed';
  if (/CERT|ISSUER|SIGNATURE/.test(code)) return REASONS[code] ?? 'its certificate is not trusted';
  return REASONS[code] ?? `the exchange failed (${code})`;
}
