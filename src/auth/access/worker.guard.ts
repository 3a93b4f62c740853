import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { callerNetwork } from '#src/kernel/index.js';
import {
  Admission,
  clientAddressOf,
  labelRequest,
  refuseUnknownKeys,
  type HttpRequest,
} from '#src/http/index.js';
import { dpopChallenge, TokenHolders } from '../possession/token-holders.js';
import { WorkerTokens, type WorkerIdentity } from '../possession/worker-tokens.js';
import { setWorkerId } from './access.decorator.js';
import { dpopToken } from './dpop-token.js';

/** Lets in a worker that shows its token with a proof of its key, and counts it by itself. */
@Injectable()
export class WorkerGuard implements CanActivate {
  constructor(
    private readonly admission: Admission,
    private readonly tokens: WorkerTokens,
    private readonly holders: TokenHolders,
  ) {}

  /** Throws Problem 401 with a challenge, 400 for unknown keys of the query, 429 or 503. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    await this.admission.admit(`unknown ${callerNetwork(clientAddressOf(request))}`, request);
    const { id } = await this.holderOf(request);
    labelRequest(request, { worker: id });
    await this.admission.admit(`worker ${id}`, request);
    refuseUnknownKeys(context);
    setWorkerId(request, id);
    return true;
  }

  private async holderOf(request: HttpRequest): Promise<WorkerIdentity> {
    const token = dpopToken(request.headers.authorization);
    if (token === undefined) throw dpopChallenge('invalid_token', 'Send the token of the worker');
    const worker = await this.tokens.verify(token);
    const key = await this.holders.keyOf(request, token);
    if (worker?.jkt === key) return worker;
    const detail = 'The token is none of a worker, has expired, or is bound to another key';
    throw dpopChallenge('invalid_token', detail);
  }
}
