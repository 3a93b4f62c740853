import type { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { invalidRequest } from '../protocol/challenges.js';

const SCHEME = /^bearer$/i;

/** 400 for two tokens at once (RFC 6750 §2). */
export function tokenAmbiguous(): OAuthProblem {
  const detail = 'Send one access token, in the header or in the query string';
  return invalidRequest('auth.token-ambiguous', detail);
}

/**
 * The `Authorization` header as passport-http-bearer reads it: scheme, one blank, value, also where somebody sends the
 * two words in the other order. Undefined without the header and for schemes with parameters, which are none of bearer
 * tokens. Throws Problem 400 for a header that is of no form at all (RFC 9110 §11.4).
 */
export function usualHeader({ headers }: Pick<HttpRequest, 'headers'>): string | undefined {
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  if (!isSchemeAndValue(authorization)) {
    const detail = 'The Authorization header is not of the form: Bearer <token>';
    throw invalidRequest('auth.token-malformed', detail);
  }
  return inUsualOrder(authorization);
}

/** The token of a header `DPoP <token>` (RFC 9449 §7.1), undefined for any other one. */
export function dpopToken(authorization: string | undefined): string | undefined {
  const [scheme = '', token] = authorization?.split(' ') ?? [];
  return /^dpop$/i.test(scheme) ? token : undefined;
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
