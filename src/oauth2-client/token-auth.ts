import type { PreparedRequest } from '#src/http-client/index.js';
import type { ComplianceHooks } from './compliance-hooks.js';
import type { DpopProver } from './dpop.js';
import {
  ConfigurationError,
  InvalidTokenError,
  MissingTokenError,
  UnsupportedTokenTypeError,
} from './oauth-error.js';
import type { OAuth2Token } from './oauth2-token.js';
import { addToQuery, parseForm } from './parameters.js';

/** Where the token goes; all but the header must be asked for (RFC 9700 §4.3.2 warns of query tokens). */
export const TOKEN_PLACEMENTS = ['header', 'headers', 'uri', 'url', 'query', 'body'] as const;
/** A value of TOKEN_PLACEMENTS. */
export type TokenPlacement = (typeof TOKEN_PLACEMENTS)[number];

/** What placing a token needs of its session. */
export interface TokenBearer {
  readonly token: OAuth2Token | null;
  readonly token_placement: TokenPlacement;
  readonly complianceHooks: ComplianceHooks;
  readonly dpopProver: DpopProver | undefined;
  readonly leeway: number;
  /** Sees to a token that is not about to end: true when there is one, null when there is none. */
  ensure_active_token(): Promise<true | null>;
}

const FORM_TYPE = 'application/x-www-form-urlencoded';
const SENDABLE = /^[\x21-\x7e]+$/;
const FORM_METHODS = new Set(['POST', 'PUT', 'PATCH']);

/** Throws ConfigurationError for a placement that does not exist: it would silently send no token. */
export function requirePlacement(placement: string): asserts placement is TokenPlacement {
  if (!(TOKEN_PLACEMENTS as readonly string[]).includes(placement)) {
    throw new ConfigurationError(`unknown token_placement "${placement}"`);
  }
}

/** Whether the placement is the query of the URL. */
export function isInQuery(placement: TokenPlacement): boolean {
  return placement === 'uri' || placement === 'url' || placement === 'query';
}

function placeInBody(prepared: PreparedRequest, accessToken: string): void {
  const { body, headers } = prepared;
  const type = headers.get('Content-Type')?.split(';', 1)[0]?.trim().toLowerCase();
  const empty = body === null || body === '';
  if (
    !FORM_METHODS.has(prepared.method) ||
    (!empty && (type !== FORM_TYPE || typeof body !== 'string'))
  ) {
    throw new ConfigurationError('a token in the body needs a form sent by POST, PUT or PATCH');
  }
  const form = parseForm(empty ? '' : (body as string));
  form.append('access_token', accessToken);
  prepared.body = form.toString();
  if (empty) headers.set('Content-Type', FORM_TYPE);
  prepared.prepare_content_length();
}

/** The scheme for a token: Bearer unless it says DPoP; throws UnsupportedTokenTypeError for others. */
function schemeOf(token: OAuth2Token, dpop: DpopProver | undefined): 'Bearer' | 'DPoP' {
  const type = token.token_type ?? 'bearer';
  const name = typeof type === 'string' ? type.toLowerCase() : '';
  if (name === 'bearer') return 'Bearer';
  if (name === 'dpop' && dpop !== undefined) return 'DPoP';
  throw new UnsupportedTokenTypeError('the token type cannot be placed in a request');
}

/**
 * The default `token_auth_class`: attaches the session's token to a prepared request, renewing it first when it
 * is expired. Works as `auth` of any other Session too. Throws MissingTokenError, InvalidTokenError,
 * UnsupportedTokenTypeError before anything is sent.
 */
export class TokenAuth {
  constructor(readonly client: TokenBearer) {}

  /** Called while a request is prepared; without renewal and hooks it works without waiting. */
  readonly attach = (prepared: PreparedRequest): void | Promise<void> => {
    const { client } = this;
    const { token, complianceHooks } = client;
    if (token === null) throw new MissingTokenError();
    if (token.is_expired(client.leeway) === true) return this.renewAndAttach(prepared);
    this.place(prepared, token);
    return complianceHooks.has('protected_request') ? this.runHooks(prepared) : undefined;
  };

  private async renewAndAttach(prepared: PreparedRequest): Promise<void> {
    const active = await this.client.ensure_active_token();
    const { token } = this.client;
    if (active !== true || token === null) throw new InvalidTokenError();
    this.place(prepared, token);
    if (this.client.complianceHooks.has('protected_request')) await this.runHooks(prepared);
  }

  private place(prepared: PreparedRequest, token: OAuth2Token): void {
    const { token_placement: placement, dpopProver } = this.client;
    const accessToken: unknown = token.access_token;
    if (typeof accessToken !== 'string' || accessToken === '') {
      throw new UnsupportedTokenTypeError('the token has no access_token');
    }
    const scheme = schemeOf(token, dpopProver);
    if (!SENDABLE.test(accessToken)) {
      throw new InvalidTokenError('the access token holds characters that cannot be sent');
    }
    if (placement === 'header' || placement === 'headers') {
      prepared.headers.set('Authorization', `${scheme} ${accessToken}`);
    } else if (placement === 'body') {
      placeInBody(prepared, accessToken);
    } else {
      const query = new URLSearchParams({ access_token: accessToken }).toString();
      prepared.url = addToQuery(prepared.url, query);
    }
    if (scheme === 'DPoP' && dpopProver !== undefined) {
      const { method, url } = prepared;
      prepared.headers.set('DPoP', dpopProver.proof({ method, url, accessToken }));
    }
  }

  private async runHooks(prepared: PreparedRequest): Promise<void> {
    const body = typeof prepared.body === 'string' ? prepared.body : '';
    const headers = Object.fromEntries(prepared.headers);
    const [url, changed, text] = await this.client.complianceHooks.request('protected_request', [
      prepared.url,
      headers,
      body,
    ]);
    prepared.url = url;
    prepared.headers.clear();
    prepared.headers.update(changed);
    if (text !== body) {
      prepared.body = text === '' ? null : text;
      prepared.prepare_content_length();
    }
  }
}
