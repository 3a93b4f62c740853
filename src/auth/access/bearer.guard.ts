import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  Admission,
  callerNetworkOf,
  labelRequest,
  queryValuesOf,
  refuseUnknownKeys,
  type HttpRequest,
} from '#src/http/index.js';
import { BearerTokens } from '../bearer/bearer-tokens.js';
import type { Principal } from '../bearer/principal.js';
import { byStrategy } from './by-strategy.js';
import { challenged, tokenMissing } from '../protocol/challenges.js';
import { ADMIN_SCOPE } from '../protocol/scopes.js';
import {
  accessRuleOf,
  callerOf,
  principalOf,
  setPrincipal,
  setTokenLook,
} from './access.decorator.js';
import { dpopToken, tokenAmbiguous, usualHeader } from './bearer-header.js';
import { BearerStrategy, type BearerView } from './bearer.strategy.js';

/** The header of nearly all requests; every other one is read by Passport. */
const PLAIN_HEADER = /^Bearer (\S+)$/;

/** Lets in who shows a good token with the scope of the route, and counts the user with the application. */
@Injectable()
export class BearerGuard extends AuthGuard() {
  constructor(
    private readonly reflector: Reflector,
    private readonly admission: Admission,
    private readonly tokens: BearerTokens,
    @Inject(CONFIG) private readonly config: Config,
    strategy: BearerStrategy,
  ) {
    super(byStrategy(strategy));
  }

  /** Throws Problem 400 (two tokens), 401 (none, or no good one), 403 (without the scope), 429 or 503. */
  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const known = this.knownHolder(request);
    if (!known) return this.findOut(request, context);
    this.handleRequest(undefined, known, undefined, context);
    return this.admit(request, context);
  }

  /**
   * Who shows a known token in the usual way: found out without a promise and without a place of the address, since nobody
   * is asked. Undefined says nothing of the request.
   */
  private knownHolder(request: HttpRequest): Principal | undefined {
    const [, token] = PLAIN_HEADER.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined || queryValuesOf(request).has('access_token')) return undefined;
    const known = this.tokens.known(token);
    if (!known) return undefined;
    setTokenLook(request, () => this.tokens.principal({ token, place: 'bearer', request }));
    return known;
  }

  private async findOut(request: HttpRequest, context: ExecutionContext): Promise<boolean> {
    await this.admission.admit(`unknown ${callerNetworkOf(request)}`, request);
    await super.canActivate(context);
    return this.admit(request, context);
  }

  private admit(request: HttpRequest, context: ExecutionContext): boolean | Promise<boolean> {
    const { user, clientId } = principalOf(request);
    const asked = (): boolean => {
      refuseUnknownKeys(context);
      return true;
    };
    const waiting = this.admission.admit(callerOf(user, clientId), request);
    return waiting ? waiting.then(asked) : asked();
  }

  override getRequest(context: ExecutionContext): BearerView {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const [token, ...more] = queryValuesOf(request).all('access_token');
    if (more.length > 0) throw tokenAmbiguous();
    const authorization = usualHeader(request);
    if (token !== undefined && !this.config.queryToken) {
      if (authorization !== undefined) throw tokenAmbiguous();
      throw tokenMissing('Tokens in the query string are switched off; send the header');
    }
    const dpop = dpopToken(authorization);
    return {
      caller: request,
      place: dpop === undefined ? (token === undefined ? 'bearer' : 'query') : 'dpop',
      headers: { authorization: dpop === undefined ? authorization : `Bearer ${dpop}` },
      query: { access_token: token },
    };
  }

  /** What Passport has found out: a principal, or the reason why there is none. */
  override handleRequest<T>(
    error: unknown,
    found: Principal | false,
    challenge: string | undefined,
    context: ExecutionContext,
  ): T {
    if (error) throw error as Error;
    if (!found) throw refusalOf(challenge);
    const request = context.switchToHttp().getRequest<HttpRequest>();
    const { user, group, setup, clientId, scopes } = found;
    labelRequest(request, { user, group, setup, client: clientId });
    const { scope, also = [] } = accessRuleOf(this.reflector, context) ?? {};
    if (scope === ADMIN_SCOPE && queryValuesOf(request).has('access_token')) {
      throw tokenMissing('Tokens in the query string are not taken here; send the header');
    }
    if (scope === undefined || ![scope, ...also].some((one) => scopes.has(one))) {
      const needed = scope ?? '';
      const detail = `This needs the scope ${needed}`;
      throw challenged('Bearer', 'insufficient_scope', detail, { scope: needed });
    }
    setPrincipal(request, found);
    return found as T;
  }
}

/** passport-http-bearer gives no challenge for two tokens at once: that is bad input, not a wrong token. */
function refusalOf(challenge: string | undefined): Error {
  if (challenge === undefined) return tokenAmbiguous();
  if (challenge.includes('invalid_token')) {
    const detail = 'The access token is unknown, expired or revoked';
    return challenged('Bearer', 'invalid_token', detail);
  }
  return tokenMissing('Send an access token');
}
