import { Problem } from '#src/kernel/index.js';
import { SSLError, type Response } from '#src/http-client/index.js';
import type { Logger } from '#src/runtime/index.js';
import type { WorkerFacts } from '#src/jobs/index.js';
import { isAway } from '#src/jobs/run/index.js';
import { untilAnswered } from './retry.js';
import { RefusedError, ServiceLink, type LinkOptions, type LinkSettings } from './service-link.js';
import { readEnrolment, workerKey, writeEnrolment } from './worker-identity.js';

const PROTOCOL = 1;
const [TIMEOUT, TOO_LARGE] = [408, 413];
/** Codes of the service's problems. */
const CODE = /^[a-z]+\.[a-z-]+$/;

/** The service does not know the worker any more: it was revoked, or silent for too long. */
export class WorkerGoneError extends Error {
  constructor() {
    super('The service does not know this worker any more');
    this.name = 'WorkerGoneError';
  }
}

/** A worker that cannot begin, with what to do. */
export class WorkerStartError extends Error {
  constructor(
    message: string,
    readonly hint?: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = 'WorkerStartError';
  }
}

/** As what a worker registers. */
export interface Registration extends Omit<LinkSettings, 'key'> {
  directory: string;
  site: string;
  /** What enrols it; undefined for one that is known by its key. */
  secret: string | undefined;
  name: string;
  version: string;
  facts: WorkerFacts;
  logger: Logger;
  signal: AbortSignal;
}

interface Token {
  token: string;
  lease_seconds: number;
}

interface Registered extends Token {
  id: string;
}

/** A worker that the service knows: its requests carry its token, which is renewed by its key. */
export class WorkerSession {
  private renewing: Promise<void> | undefined;

  private constructor(
    readonly id: string,
    /** So long may the worker be silent before the service takes back what it has not begun. */
    readonly leaseSeconds: number,
    private readonly link: ServiceLink,
  ) {}

  /**
   * Registers by the secret, or goes on as the worker that the key of the directory is. Waits while the service is away. Throws
   * WorkerStartError.
   */
  static async open(registration: Registration): Promise<WorkerSession> {
    const { directory, server, site, secret } = registration;
    const key = await workerKey(directory);
    const known = await readEnrolment(directory);
    if (known && (known.server !== server || known.site !== site)) {
      throw new WorkerStartError(
        `${directory} is that of a worker of site ${known.site} at ${known.server}`,
        'give each worker a directory of its own',
      );
    }
    if (known?.isCopy) {
      throw new WorkerStartError(
        `${directory} is a copy of the directory of a worker`,
        'give each worker a directory of its own; where the other one is gone for good, remove key.pem and worker.json',
      );
    }
    const link = new ServiceLink({ ...registration, key });
    try {
      const again = (): Promise<WorkerSession> => renewed(link, known?.id, registration);
      if (secret === undefined) return await again();
      return await registered(
        link,
        { ...registration, secret },
        known === undefined ? undefined : again,
      );
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  /**
   * A request below `/workers/<its id>/`. Throws WorkerGoneError, and what ServiceLink.request throws. What something on the way refuses,
   * but for what is too large, and what came too slowly, says nothing about the worker and its runs: the service is away.
   */
  async request(method: string, path: string, options: LinkOptions = {}): Promise<Response> {
    return this.withToken(() => this.link.request(method, `/workers/${this.id}${path}`, options));
  }

  /** The JSON of the answer to such a request. */
  async json<T extends object>(
    method: string,
    path: string,
    options: LinkOptions = {},
  ): Promise<T> {
    return this.withToken(() => this.link.json<T>(method, `/workers/${this.id}${path}`, options));
  }

  /** The worker ends for good. */
  async leave(signal: AbortSignal): Promise<void> {
    await this.request('DELETE', '', { signal });
  }

  async close(): Promise<void> {
    await this.link.close();
  }

  /** Whether the worker is known is said by an answer of 404 to the renewal of its token, too. */
  private async withToken<T>(work: () => Promise<T>): Promise<T> {
    const { token } = this.link;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 401) throw ofService(error);
    }
    try {
      if (token === this.link.token) await this.renew();
      return await work();
    } catch (error) {
      throw ofService(error);
    }
  }

  private async renew(): Promise<void> {
    this.renewing ??= newToken(this.link, this.id)
      .then(({ token }) => {
        this.link.token = token;
      })
      .finally(() => (this.renewing = undefined));
    await this.renewing;
  }

  /** One that the service has just answered. */
  static of(
    link: ServiceLink,
    { id, token, lease_seconds: leaseSeconds }: Registered,
  ): WorkerSession {
    link.token = token;
    return new WorkerSession(id, leaseSeconds, link);
  }
}

async function registered(
  link: ServiceLink,
  registration: Registration & { secret: string },
  again: (() => Promise<WorkerSession>) | undefined,
): Promise<WorkerSession> {
  const { directory, server, site, secret, name, version, facts, logger, signal } = registration;
  const json = { site, secret: secret.trim(), protocol: PROTOCOL, name, version, facts };
  try {
    const post = (): Promise<Registered> =>
      link.json<Registered>('POST', '/workers', { json, isBare: true, signal });
    const answer = await untilAnswered(telling(post, logger), signal);
    if (typeof answer.id !== 'string') throw new WorkerStartError(`${server} is no such service`);
    await writeEnrolment(directory, { server, site, id: answer.id });
    return WorkerSession.of(link, answer);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    if (error.code === 'worker.secret-refused' && again) return again();
    throw new WorkerStartError(error.detail);
  }
}

async function renewed(
  link: ServiceLink,
  id: string | undefined,
  { logger, signal }: Registration,
): Promise<WorkerSession> {
  const hint =
    'give it the secret of an administrator (gridgate site secret add) with --secret-file';
  if (id === undefined) throw new WorkerStartError('the worker is not registered yet', hint);
  try {
    const token = await untilAnswered(
      telling(() => newToken(link, id, signal), logger),
      signal,
    );
    return WorkerSession.of(link, { id, ...token });
  } catch (error) {
    if (error instanceof WorkerGoneError) throw new WorkerStartError(error.message, hint, error);
    throw error instanceof RefusedError ? new WorkerStartError(error.detail) : error;
  }
}

/** A new token for who has the key. Throws WorkerGoneError. */
async function newToken(link: ServiceLink, id: string, signal?: AbortSignal): Promise<Token> {
  try {
    const options = { isBare: true, ...(signal && { signal }) };
    return await link.json<Token>('POST', `/workers/${id}/token`, options);
  } catch (error) {
    throw isGone(error) ? new WorkerGoneError() : error;
  }
}

function ofService(error: unknown): unknown {
  if (isGone(error)) return new WorkerGoneError();
  if (!(error instanceof RefusedError)) return error;
  const { status, code } = error;
  const isOnTheWay = (!CODE.test(code) || code === 'route.not-found') && status !== TOO_LARGE;
  if (!isOnTheWay && status !== TIMEOUT) return error;
  return Problem.unavailable(error.detail, { retryAfterSeconds: 0, cause: error });
}

function isGone(error: unknown): boolean {
  return error instanceof RefusedError && error.code === 'worker.not-found';
}

/** Says once that the service is waited for. Throws WorkerStartError for a certificate that does not get better by that. */
function telling<T>(work: () => Promise<T>, logger: Logger): () => Promise<T> {
  let isTold = false;
  return async () => {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (error.cause instanceof SSLError) {
        const text = `the certificate of the service is not trusted: ${error.detail}`;
        throw new WorkerStartError(text, 'give its CA with --ca', error);
      }
      if (!isTold)
        logger.warn({ reason: error.detail }, 'the service is away; the worker waits for it');
      isTold = true;
      throw error;
    }
  };
}
