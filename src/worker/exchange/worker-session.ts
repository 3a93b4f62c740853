import { SSLError } from '#src/http-client/index.js';
import type { Logger } from '#src/runtime/index.js';
import { isAway } from '#src/jobs/run/index.js';
import { untilAnswered } from './retry.js';
import { awayFrom, ServiceLink, type LinkSettings } from './service-link.js';
import {
  ClaimNumbers,
  forgetEnrolment,
  readEnrolment,
  workerKey,
  writeEnrolment,
} from './worker-identity.js';
import {
  connected,
  isGone,
  type LinkAnswer,
  type LinkOptions,
  meaningOf,
  PROTOCOL,
  RefusedError,
  WorkerGoneError,
  type WorkerLink,
  WorkerStartError,
  type WorkerWords,
} from './worker-link.js';

/** As what a worker registers. */
export interface Registration extends Omit<LinkSettings, 'key'> {
  directory: string;
  site: string;
  /** What enrols it; undefined for one that is known by its key. */
  secret: string | undefined;
  words: WorkerWords;
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
export class WorkerSession implements WorkerLink {
  private renewing: Promise<void> | undefined;

  private constructor(
    private readonly worker: Registered,
    private readonly link: ServiceLink,
    private readonly numbers: ClaimNumbers,
    private readonly directory: string,
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
      const enrol = secret === undefined ? renewed : registered;
      const worker = await enrol(link, registration, known?.id);
      link.token = worker.token;
      return new WorkerSession(worker, link, await ClaimNumbers.open(directory), directory);
    } catch (error) {
      await link.close();
      throw error;
    }
  }

  get id(): string {
    return this.worker.id;
  }

  get leaseSeconds(): number {
    return this.worker.lease_seconds;
  }

  async nextClaim(): Promise<number> {
    return this.numbers.next();
  }

  isOver(): boolean {
    return false;
  }

  async request(method: string, path: string, options: LinkOptions = {}): Promise<LinkAnswer> {
    const answer = await this.withToken(() =>
      this.link.request(method, `/workers/${this.id}${path}`, options),
    );
    return options.stream ? { body: connected(answer.body, awayFrom) } : answer;
  }

  async json<T extends object>(
    method: string,
    path: string,
    options: LinkOptions = {},
  ): Promise<T> {
    return this.withToken(() => this.link.json<T>(method, `/workers/${this.id}${path}`, options));
  }

  async leave(signal: AbortSignal): Promise<void> {
    await this.request('DELETE', '', { signal });
    await this.forget();
  }

  async forget(): Promise<void> {
    await forgetEnrolment(this.directory);
  }

  async close(): Promise<void> {
    await this.numbers.close();
    await this.link.close();
  }

  /** Whether the worker is known is said by an answer of 404 to the renewal of its token, too. */
  private async withToken<T>(work: () => Promise<T>): Promise<T> {
    const { token } = this.link;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 401) throw meaningOf(error);
    }
    try {
      if (token === this.link.token) await this.renew();
      return await work();
    } catch (error) {
      throw meaningOf(error);
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
}

async function registered(
  link: ServiceLink,
  registration: Registration,
  known: string | undefined,
): Promise<Registered> {
  const { directory, server, site, secret, words, logger, signal } = registration;
  const json = { site, secret: secret?.trim(), protocol: PROTOCOL, ...words };
  try {
    const options = { json, isBare: true, signal };
    const post = telling(() => link.json<Registered>('POST', '/workers', options), logger);
    const answer = await untilAnswered(post, signal);
    if (typeof answer.id !== 'string') throw new WorkerStartError(`${server} is no such service`);
    await writeEnrolment(directory, { server, site, id: answer.id });
    return answer;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const isKnown = error.code === 'worker.secret-refused' && known !== undefined;
    if (isKnown) return renewed(link, registration, known);
    throw new WorkerStartError(error.detail);
  }
}

async function renewed(
  link: ServiceLink,
  { words, logger, signal }: Registration,
  id: string | undefined,
): Promise<Registered> {
  const hint =
    'give it the secret of an administrator (gridgate site secret add) with --secret-file';
  if (id === undefined) throw new WorkerStartError('the worker is not registered', hint);
  try {
    const ask = telling(() => newToken(link, id, signal), logger);
    const token = await untilAnswered(ask, signal);
    link.token = token.token;
    const json = { protocol: PROTOCOL, ...words };
    await untilAnswered(() => link.request('PUT', `/workers/${id}`, { json, signal }), signal);
    return { id, ...token };
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
        throw new WorkerStartError(
          text,
          'give its CA with --ca, as `gridgate site secret add` prints it',
          error,
        );
      }
      if (!isTold)
        logger.warn({ reason: error.detail }, 'the service is away; the worker waits for it');
      isTold = true;
      throw error;
    }
  };
}
