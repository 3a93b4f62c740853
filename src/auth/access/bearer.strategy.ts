import { Inject, Injectable } from '@nestjs/common';
import { Strategy, type VerifyFunctionWithRequest } from 'passport-http-bearer';
import { Problem, type ProblemCode } from '#src/kernel/index.js';
import { CONFIG, queryValuesOf, type Config, type HttpRequest } from '#src/platform/index.js';
import type { Principal } from '../bearer/principal.js';
import { BearerTokens } from '../bearer/bearer-tokens.js';

const REALM = 'gridgate';
const SCHEME = /^bearer$/i;

/** A 401 or 403 of RFC 6750 §3.1 with its `WWW-Authenticate` header. */
export function bearerProblem(
  error: 'invalid_token' | 'insufficient_scope',
  detail: string,
  scope?: string,
): Problem {
  const parts = [
    `realm="${REALM}"`,
    `error="${error}"`,
    `error_description="${detail}"`,
    ...(scope === undefined ? [] : [`scope="${scope}"`]),
  ];
  const code = error === 'invalid_token' ? 'auth.token-invalid' : 'auth.insufficient-scope';
  return new Problem(code, detail, {
    headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` },
  });
}

/**
 * Bearer tokens by passport-http-bearer: `Authorization: Bearer <t>` in any case of the word and in either order of
 * the two words, or the query parameter `access_token`, never both (RFC 6750 §2).
 */
@Injectable()
export class BearerStrategy {
  private readonly strategy: Strategy<VerifyFunctionWithRequest>;

  constructor(
    private readonly tokens: BearerTokens,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.strategy = new Strategy<VerifyFunctionWithRequest>(
      { realm: REALM, passReqToCallback: true },
      (request, token, done) => {
        const { caller } = request as unknown as { caller: HttpRequest };
        this.tokens.principal(token, caller).then(
          (principal) => done(null, principal ?? false),
          (error: unknown) => done(error),
        );
      },
    );
  }

  /** The principal of the request. Throws Problem 400 (two tokens), 401 (none, or no good one) or 503. */
  async authenticate(request: HttpRequest): Promise<Principal> {
    const queryTokens = queryValuesOf(request).all('access_token');
    if (queryTokens.length > 1) throw ambiguous();
    const { authorization } = request.headers;
    if (authorization !== undefined && !isSchemeAndValue(authorization)) throw malformed();
    const view = {
      caller: request,
      headers: { authorization: inUsualOrder(request.headers.authorization) },
      query: { access_token: queryTokens[0] },
    };
    if (queryTokens.length > 0 && !this.config.queryToken) {
      if (view.headers.authorization !== undefined) throw ambiguous();
      throw this.challenge('Tokens in the query string are switched off; send the header');
    }
    return new Promise((resolve, reject) => {
      // passport makes one object per request from the strategy and hangs its outcomes on it; so do we
      const attempt = Object.create(this.strategy) as Attempt;
      attempt.success = resolve;
      attempt.error = reject;
      attempt.fail = (challenge) => reject(this.failure(challenge));
      attempt.authenticate(view);
    });
  }

  private failure(challenge: string | number): Problem {
    if (challenge === 400) return ambiguous();
    if (String(challenge).includes('invalid_token')) {
      return bearerProblem('invalid_token', 'The access token is unknown, expired or revoked');
    }
    return this.challenge('Send an access token');
  }

  private challenge(detail: string): Problem {
    return new Problem('auth.token-missing', detail, {
      headers: { 'WWW-Authenticate': `Bearer realm="${REALM}"` },
    });
  }
}

interface Attempt {
  success: (principal: Principal) => void;
  fail: (challenge: string | number) => void;
  error: (error: unknown) => void;
  authenticate: (view: object) => void;
}

function ambiguous(): Problem {
  const detail = 'Send one access token, in the header or in the query string';
  return invalidRequest('auth.token-ambiguous', detail);
}

function malformed(): Problem {
  const detail = 'The Authorization header is not of the form: Bearer <token>';
  return invalidRequest('auth.token-malformed', detail);
}

function invalidRequest(code: ProblemCode, detail: string): Problem {
  const parts = `realm="${REALM}", error="invalid_request", error_description="${detail}"`;
  return new Problem(code, detail, { headers: { 'WWW-Authenticate': `Bearer ${parts}` } });
}

/** RFC 9110 §11.4: a scheme and one value; schemes with parameters are none of bearer tokens and of no interest here. */
function isSchemeAndValue(header: string): boolean {
  const [scheme = '', ...rest] = header.trim().split(/[ \t]+/);
  if (rest.length === 1) return true;
  return rest.length > 1 && !SCHEME.test(scheme) && rest.every((word) => !SCHEME.test(word));
}

/**
 * The bearer token that a request presents in its header, undefined when it presents none. For the endpoints under
 * /oauth2 that look at a token of their own accord.
 */
export function bearerHeaderOf(request: HttpRequest): string | undefined {
  const [scheme, token, ...rest] = (inUsualOrder(request.headers.authorization) ?? '').split(' ');
  return SCHEME.test(scheme ?? '') && rest.length === 0 ? token : undefined;
}

function inUsualOrder(header: string | undefined): string | undefined {
  const words = header?.trim().split(/[ \t]+/);
  if (!words || words.length !== 2) return undefined; // of another scheme
  const [first = '', second = ''] = words;
  return !SCHEME.test(first) && SCHEME.test(second) ? `Bearer ${first}` : `${first} ${second}`;
}
