import { DpopProver } from '#src/oauth2-client/index.js';
import { type Response, RequestException, Session } from '#src/http-client/index.js';
import { Problem, systemClock } from '#src/kernel/index.js';
import { type LinkOptions, refusalOf, requireObject, SILENCE_SECONDS } from './worker-link.js';

/** After a cut a connection that is begun anew is there sooner than the next packet of an older one. */
const CONNECT_SECONDS = 15;

/** What may go with a request of this link. */
export interface SignedOptions extends LinkOptions {
  /** The proof of the key alone goes with it, as for a new token. */
  isBare?: boolean;
}

/** How the service is reached. */
export interface LinkSettings {
  /** Its URL, without a slash at the end. */
  server: string;
  /** Path of a file with the CAs of its certificate; undefined for those that the machine knows. */
  ca?: string | undefined;
  /** Private key of the worker, PEM. */
  key: string;
}

/**
 * Requests of a worker: each carries a proof of its key (RFC 9449), made for the nonce that the service has given last, and the token
 * where there is one. Rejects with Problem `service.unavailable` while the service cannot be reached or says that it is busy, and with
 * RefusedError for any other answer that is none.
 */
export class ServiceLink {
  /** Access token of the worker, for everything but how to get one. */
  token: string | undefined;
  private readonly session: Session;
  private readonly prover: DpopProver;

  constructor(private readonly settings: LinkSettings) {
    this.session = new Session({
      verify: settings.ca ?? true,
      default_timeout: [CONNECT_SECONDS, SILENCE_SECONDS],
      use_netrc: false,
    });
    this.prover = new DpopProver(settings.key, systemClock);
  }

  /** The answer to a request, and one to its repetition with the nonce that the service has asked for. */
  async request(method: string, path: string, options: SignedOptions = {}): Promise<Response> {
    const first = await this.send(method, path, options);
    if (!this.prover.learnNonce(first) || ![400, 401].includes(first.status_code)) {
      return this.accepted(first);
    }
    await first.read().catch(() => undefined);
    return this.accepted(await this.send(method, path, options));
  }

  /** The JSON object of an answer; numbers are exact. What is none is the answer of something on the way: the service is away. */
  async json<T extends object>(
    method: string,
    path: string,
    options: SignedOptions = {},
  ): Promise<T> {
    return requireObject<T>((await this.request(method, path, options)).text);
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  private async send(
    method: string,
    path: string,
    { json, data, stream = false, isBare = false, silenceSeconds, signal }: SignedOptions,
  ): Promise<Response> {
    const url = `${this.settings.server}${path}`;
    const token = isBare ? undefined : this.token;
    const proof = this.prover.proof({
      method,
      url,
      ...(token !== undefined && { accessToken: token }),
    });
    const headers = { DPoP: proof, ...(token !== undefined && { Authorization: `DPoP ${token}` }) };
    try {
      return await this.session.request(method, url, {
        ...{ headers, stream, allow_redirects: false },
        ...(silenceSeconds !== undefined && { timeout: [CONNECT_SECONDS, silenceSeconds] }),
        ...(json !== undefined && { json }),
        ...(data !== undefined && { data: data() }),
        ...(signal && { signal }),
      });
    } catch (cause) {
      throw awayFrom(cause);
    }
  }

  private async accepted(answer: Response): Promise<Response> {
    const { status_code: status } = answer;
    if (status < 300) return answer;
    await answer.read().catch(() => undefined);
    const retryAfter = answer.headers.get('Retry-After');
    throw refusalOf({ status, text: answer.text, retryAfter });
  }
}

/** A fault of the connection as that of a service that is away; anything else as it is. */
export function awayFrom(cause: unknown): unknown {
  if (!(cause instanceof RequestException)) return cause;
  return Problem.unavailable(cause.message, { retryAfterSeconds: 0, cause });
}
