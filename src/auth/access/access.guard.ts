import { type IAuthModuleOptions, PassportStrategy, AuthGuard } from '@nestjs/passport';
import type { Strategy as AnyStrategy } from 'passport';
import { Injectable, Inject, type ExecutionContext, type CanActivate } from '@nestjs/common';
import { Strategy } from 'passport-http-bearer';
import { Reflector } from '@nestjs/core';
import { type OAuthProblem, Problem, callerNetwork } from '#src/kernel/index.js';
import {
  type HttpRequest,
  Admission,
  clientAddressOf,
  labelRequest,
  queryValuesOf,
  refuseUnknownKeys,
} from '#src/http/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  invalidRequest,
  REALM,
  challenged,
  scopeMissing,
  tokenMissing,
} from '../protocol/challenges.js';
import { BearerTokens } from '../bearer/bearer-tokens.js';
import type { TokenPlace } from '../possession/confirmation.js';
import type { Principal } from '../bearer/principal.js';
import {
  setTokenLook,
  accessRuleOf,
  callerOf,
  principalOf,
  setPrincipal,
  setCertificateUser,
  type AccessKind,
} from './access.decorator.js';
import { ADMIN_SCOPE } from '../protocol/scopes.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { dpopToken } from './dpop-token.js';
import { CertificateUsers } from './certificate-users.js';
import { WorkerGuard } from './worker.guard.js';

const SCHEME = /^bearer$/i;

/** 400 for two tokens at once (RFC 6750 §2). */
function tokenAmbiguous(): OAuthProblem {
  const detail = 'Send one access token, in the header or in the query string';
  return invalidRequest('auth.token-ambiguous', detail);
}

/**
 * The `Authorization` header as passport-http-bearer reads it: scheme, one blank, value, also where somebody sends the
 * two words in the other order. Undefined without the header and for schemes with parameters, which are none of bearer
 * tokens. Throws Problem 400 for a header that is of no form at all (RFC 9110 §11.4).
 */
function usualHeader({ headers }: Pick<HttpRequest, 'headers'>): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  if (!isSchemeAndValue(authorization)) {
    const detail = 'The Authorization header is not of the form: Bearer <token>';
    throw invalidRequest('auth.token-malformed', detail);
  }
  return inUsualOrder(authorization);
}

/**
 * The bearer token that a request presents in its header, undefined when it presents none. For the endpoints under
 * /oauth2 that look at a token of their own accord.
 */
export function bearerHeaderOf(request: Pick<HttpRequest, 'headers'>): string | undefined {
  const [scheme, token, ...rest] = (inUsualOrder(request.headers.authorization) ?? '').split(' ');
  return SCHEME.test(scheme ?? '') && rest.length === 0 ? token : undefined;
}

function isSchemeAndValue(header: string): boolean {
  const [scheme = '', ...rest] = header.trim().split(/[ \t]+/);
  if (rest.length === 1) return true;
  return rest.length > 1 && !SCHEME.test(scheme) && rest.every((word) => !SCHEME.test(word));
}

function inUsualOrder(header: string | undefined): string | undefined {
  const words = header?.trim().split(/[ \t]+/);
  if (!words || words.length !== 2) return undefined; // of another scheme
  const [first = '', second = ''] = words;
  return !SCHEME.test(first) && SCHEME.test(second) ? `Bearer ${first}` : `${first} ${second}`;
}

/**
 * The options of an AuthGuard that uses this very strategy. Passport keeps names of strategies for a whole process, where the
 * strategy of the server that started last would answer for all; it takes a strategy itself, too, but then writes what belongs to the
 * request into it: so each request gets an object of its own that has the strategy as its prototype.
 */
export function byStrategy(strategy: AnyStrategy): IAuthModuleOptions {
  return {
    get defaultStrategy() {
      return Object.create(strategy) as string;
    },
  };
}

/** What passport-http-bearer looks at: the places of a token, each at most once, and the request they are from. */
interface BearerView {
  readonly caller: HttpRequest;
  readonly place: TokenPlace;
  readonly headers: { readonly authorization: string | undefined };
  readonly query: { readonly access_token: string | undefined };
}

/**
 * Bearer tokens by passport-http-bearer: `Authorization: Bearer <t>`, or the query parameter `access_token`, never both
 * (RFC 6750 §2).
 */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly tokens: BearerTokens) {
    super({ realm: REALM, passReqToCallback: true });
  }

  /** Whom the token stands for now; false when it is no good. Throws Problem 401 for a bound token of somebody else, 503 when that cannot be told. */
  async validate({ caller, place }: BearerView, token: string): Promise<Principal | false> {
    const presented = { token, place, request: caller };
    const look = (): Promise<Principal | undefined> => this.tokens.principal(presented);
    setTokenLook(caller, look);
    return (await look()) ?? false;
  }
}

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
    await this.admission.admit(`unknown ${callerNetwork(clientAddressOf(request))}`, request);
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
      throw scopeMissing(scope ?? '');
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

/** Lets everybody in, and counts the address. */
@Injectable()
export class OpenGuard implements CanActivate {
  constructor(private readonly admission: Admission) {}

  /** Throws Problem 429. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    await this.admission.admit(`address ${callerNetwork(clientAddressOf(request))}`, request);
    return true;
  }
}

/** Lets in who comes with the client certificate of a known user, and counts the user. */
@Injectable()
export class CertificateGuard implements CanActivate {
  constructor(
    private readonly certificates: CertificateUsers,
    private readonly admission: Admission,
  ) {}

  /** Throws 401 `invalid_client` without a good certificate of a known user, Problem 429 or 503. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<HttpRequest>();
    await this.admission.admit(`unknown ${callerNetwork(clientAddressOf(request))}`, request);
    const { user } = await this.certificates.certified(request);
    labelRequest(request, { user: user.name });
    setCertificateUser(request, user);
    await this.admission.admit(callerOf(user.name, CERTIFICATE_CLIENT), request);
    return true;
  }
}

/**
 * The one global guard. Each route says by `@Access` who may call it, and the guard of that kind decides; a route that
 * says nothing is refused, and a rule with an unknown kind as well.
 *
 * Whoever calls is then counted: a user with an application, or, where nobody has to be known, an
 * address. Finding out who it is counts for the address too, but apart from its requests: whoever holds all places of
 * an address keeps nobody else behind it from showing a token.
 */
@Injectable()
export class AccessGuard implements CanActivate {
  private readonly guards: ReadonlyMap<AccessKind | undefined, CanActivate>;

  constructor(
    private readonly reflector: Reflector,
    bearer: BearerGuard,
    certificate: CertificateGuard,
    worker: WorkerGuard,
    open: OpenGuard,
  ) {
    const probe = { canActivate: () => true };
    this.guards = new Map<AccessKind, CanActivate>([
      ['bearer', bearer],
      ['certificate', certificate],
      ['worker', worker],
      ['open', open],
      ['probe', probe],
    ]);
  }

  canActivate(context: ExecutionContext): ReturnType<CanActivate['canActivate']> {
    const guard = this.guards.get(accessRuleOf(this.reflector, context)?.kind);
    if (!guard) throw new Problem('auth.forbidden', 'Nobody may call this');
    return guard.canActivate(context);
  }
}
