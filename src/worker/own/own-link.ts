import { existsSync } from 'node:fs';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { text as textOf } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { Problem, stringifyJson } from '#src/kernel/index.js';
import {
  connected,
  type LinkAnswer,
  type LinkOptions,
  meaningOf,
  PROTOCOL,
  refusalOf,
  requireObject,
  SILENCE_SECONDS,
  type WorkerLink,
  type WorkerWords,
} from '../exchange/worker-link.js';
import { untilAnswered } from '../exchange/retry.js';

/** A worker without a run waits so long for a service that is away and has not ended as it should. */
const PATIENCE_MS = 60_000;

/** Where the service is, and who the worker is. */
interface OwnPlace {
  /** Path of the Unix socket. */
  socketPath: string;
  id: string;
}

/** The service has ended before it knew its worker. */
export class ServiceEndedError extends Error {
  constructor() {
    super('the service has ended');
    this.name = 'ServiceEndedError';
  }
}

/** The way of the service's own worker: a Unix socket that nobody else may open, so that it needs no key and no token. */
export class OwnLink implements WorkerLink {
  leaseSeconds = 0;
  private seq = 0;
  private heardMs = performance.now();
  private readonly agent = new Agent({ keepAlive: true });

  private constructor(private readonly place: OwnPlace) {}

  /** Says what the worker is, as soon as the service is there. Throws ServiceEndedError, WorkerGoneError and RefusedError. */
  static async open(place: OwnPlace, words: WorkerWords, signal: AbortSignal): Promise<OwnLink> {
    const link = new OwnLink(place);
    const json = { protocol: PROTOCOL, ...words };
    const tell = (): Promise<{ lease_seconds: number; seq: number }> => {
      if (link.isOver()) throw new ServiceEndedError();
      return link.json('PUT', '', { json, signal });
    };
    const { lease_seconds: leaseSeconds, seq } = await untilAnswered(tell, signal);
    link.leaseSeconds = leaseSeconds;
    link.seq = seq;
    return link;
  }

  get id(): string {
    return this.place.id;
  }

  /** There is one such worker at a time: its numbers go on from the last one that the service has seen. */
  nextClaim(): Promise<number> {
    this.seq += 1;
    return Promise.resolve(this.seq);
  }

  /** A service that ends as it should takes its socket away. */
  isOver(): boolean {
    const isSilent = performance.now() - this.heardMs >= PATIENCE_MS;
    return isSilent || !existsSync(this.place.socketPath);
  }

  async request(method: string, path: string, options: LinkOptions = {}): Promise<LinkAnswer> {
    try {
      const answer = await this.send(method, path, options);
      this.heardMs = performance.now();
      const { statusCode: status = 0, headers } = answer;
      if (status < 300 && options.stream) return { body: connected(answer, away) };
      const text = await textOf(answer).catch((cause: unknown) => Promise.reject(away(cause)));
      if (status >= 300) throw refusalOf({ status, text, retryAfter: headers['retry-after'] });
      return { body: Readable.from([Buffer.from(text)]) };
    } catch (error) {
      throw meaningOf(error);
    }
  }

  async json<T extends object>(
    method: string,
    path: string,
    options: LinkOptions = {},
  ): Promise<T> {
    const { body } = await this.request(method, path, options);
    return requireObject<T>(await textOf(body));
  }

  /** It stays the worker of the service. */
  leave(): Promise<void> {
    return Promise.resolve();
  }

  forget(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.agent.destroy();
    return Promise.resolve();
  }

  private async send(
    method: string,
    path: string,
    { json, data, signal, silenceSeconds = SILENCE_SECONDS }: LinkOptions,
  ): Promise<IncomingMessage> {
    const body = json === undefined ? data?.() : Buffer.from(stringifyJson(json));
    const isWhole = body instanceof Uint8Array;
    const message = httpRequest({
      ...{ socketPath: this.place.socketPath, agent: this.agent, signal, method },
      path: `/workers/${this.id}${path}`,
      headers: {
        Host: 'localhost',
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...(isWhole && { 'Content-Length': body.length }),
      },
    });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      message.once('response', resolve).on('error', (cause) => reject(away(cause)));
      const late = (): void => void message.destroy(new Error('The service does not answer'));
      message.setTimeout(silenceSeconds * 1000, late);
    });
    if (body === undefined || isWhole) message.end(body);
    // A service that refuses it before its end is read all the same.
    else pipeline(Readable.from(body), message).catch(() => undefined);
    return answered;
  }
}

/** The fault of the socket as that of a service that is away; a request that was given up is none. */
function away(cause: unknown): Error {
  if (!(cause instanceof Error) || cause.name === 'AbortError') return cause as Error;
  const { message } = cause;
  return Problem.unavailable(message, { retryAfterSeconds: 0, cause });
}
