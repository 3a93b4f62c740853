import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { callerNetwork, sha256 } from '#src/kernel/index.js';
import {
  Admission,
  clientAddressOf,
  isOfOwnWorker,
  labelRequest,
  refuseUnknownKeys,
  type HttpRequest,
} from '#src/http/index.js';
import { dpopChallenge, TokenHolders } from '../possession/token-holders.js';
import { WorkerTokens, type WorkerIdentity } from '../possession/worker-tokens.js';
import { setWorkerId } from './access.decorator.js';
import { dpopToken } from './dpop-token.js';

/** Tokens that are remembered. */
const MOST_SEEN = 20_000;

/**
 * Lets in a worker that shows its token with a proof of its key, and counts it by itself; and whoever could open the socket of the service's
 * own worker.
 */
@Injectable()
export class WorkerGuard implements CanActivate {
  /**
   * Hashes of tokens that were good → their workers. A thousand workers of a site are one address: whoever shows such a token counts
   * as that worker from the start, and takes no place of the address. The token is checked all the same.
   */
  private readonly seen = new Map<string, string>();

  constructor(
    private readonly admission: Admission,
    private readonly tokens: WorkerTokens,
    private readonly holders: TokenHolders,
  ) {}

  /** Throws Problem 401 with a challenge, 400 for unknown keys of the query, 429 or 503. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    if (isOfOwnWorker(request)) {
      setWorkerId(request, String(request.params['id']));
      return true;
    }
    const token = dpopToken(request.headers.authorization);
    const seen = token === undefined ? undefined : this.seen.get(sha256(token));
    const address = `unknown ${callerNetwork(clientAddressOf(request))}`;
    await this.admission.admit(seen === undefined ? address : `worker ${seen}`, request);
    const { id } = await this.holderOf(request, token);
    labelRequest(request, { worker: id });
    if (seen === undefined) await this.admission.admit(`worker ${id}`, request);
    refuseUnknownKeys(context);
    setWorkerId(request, id);
    return true;
  }

  private async holderOf(request: HttpRequest, token: string | undefined): Promise<WorkerIdentity> {
    if (token === undefined) throw dpopChallenge('invalid_token', 'Send the token of the worker');
    const worker = await this.tokens.verify(token);
    const key = await this.holders.keyOf(request, token);
    if (worker?.jkt === key) {
      this.remember(token, worker);
      return worker;
    }
    const detail = 'The token is none of a worker, has expired, or is bound to another key';
    throw dpopChallenge('invalid_token', detail);
  }

  private remember(token: string, { id }: WorkerIdentity): void {
    const hash = sha256(token);
    this.seen.delete(hash);
    this.seen.set(hash, id);
    const [oldest] = this.seen.keys();
    if (this.seen.size > MOST_SEEN && oldest !== undefined) this.seen.delete(oldest);
  }
}
