import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { DpopRequests } from '../possession/dpop-requests.js';
import { GRANT_TYPES, type GrantType } from './grants/grant-type.js';
import { TokenResponse } from './grants/token.response.js';
import type { TokenQuery } from './token.request.js';

/** The token endpoint: picks the grant type by `grant_type`. */
@Injectable()
export class TokenService {
  private readonly grants: ReadonlyMap<string, GrantType>;

  constructor(
    private readonly audit: Audit,
    private readonly dpop: DpopRequests,
    @Inject(GRANT_TYPES) grants: readonly GrantType[],
  ) {
    this.grants = new Map(grants.map((grant) => [grant.type, grant]));
  }

  /** Values of `grant_type` that are understood. */
  grantTypes(): string[] {
    return [...this.grants.keys()];
  }

  /** Answers a token request. Throws OAuthProblem (RFC 6749 §5.2). */
  async issue(form: TokenQuery, request: HttpRequest): Promise<TokenResponse> {
    const { grant_type: type } = form;
    const grant = this.grants.get(type);
    if (!grant) {
      throw new OAuthProblem('unsupported_grant_type', 'This grant_type is not supported');
    }
    try {
      await this.dpop.thumbprintOf(request);
      const { minted, extras } = await grant.issue(form, request);
      const { scope, group, setup, jti: tokenId, client_id: client } = minted.claims;
      const details = { grantType: type, tokenId, scope };
      this.audit.done('token.issued', details, { request, actor: { group, setup, client } });
      return TokenResponse.from(minted, extras);
    } catch (error) {
      if (!isStillWaiting(error)) {
        this.audit.refused('token.issued', { grantType: type }, request, error);
      }
      throw error;
    }
  }
}

/** A device that asks whether its user has decided (RFC 8628 §3.5), or who is told a nonce, is refused nothing yet. */
function isStillWaiting(error: unknown): boolean {
  const waiting = ['authorization_pending', 'slow_down', 'use_dpop_nonce'];
  return error instanceof OAuthProblem && waiting.includes(error.error);
}
