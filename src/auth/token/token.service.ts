import { Inject, Injectable } from '@nestjs/common';
import { decodeJwt } from 'jose';
import { OAuthProblem } from '#src/kernel/index.js';
import { Audit, type HttpRequest } from '#src/platform/index.js';
import { RateLimits } from '../protocol/rate-limits.js';
import { GRANT_TYPES, type GrantType } from './grants/grant-type.js';
import { OAuthParameters } from '../protocol/oauth-parameters.js';
import type { TokenResponse } from './grants/token.response.js';

/** The token endpoint: picks the grant type by `grant_type`. */
@Injectable()
export class TokenService {
  private readonly grants: ReadonlyMap<string, GrantType>;

  constructor(
    private readonly limits: RateLimits,
    private readonly audit: Audit,
    @Inject(GRANT_TYPES) grants: readonly GrantType[],
  ) {
    this.grants = new Map(grants.map((grant) => [grant.type, grant]));
  }

  /** Values of `grant_type` that are understood. */
  grantTypes(): string[] {
    return [...this.grants.keys()];
  }

  /** Answers a token request. Throws OAuthProblem (RFC 6749 §5.2). */
  async issue(request: HttpRequest): Promise<TokenResponse> {
    const parameters = await OAuthParameters.of(request);
    await this.limits.count('token', request, parameters.optional('client_id'));
    const type = parameters.required('grant_type');
    const grant = this.grants.get(type);
    if (!grant) {
      throw new OAuthProblem('unsupported_grant_type', 'This grant_type is not supported');
    }
    try {
      const answer = await grant.issue({ parameters, request });
      const { scope, group, setup } = answer;
      const { jti: tokenId, client_id: client } = decodeJwt<{ client_id: string }>(
        answer.access_token,
      );
      const details = { grantType: type, tokenId, scope };
      this.audit.done('token.issued', details, { request, actor: { group, setup, client } });
      return answer;
    } catch (error) {
      if (!isStillWaiting(error)) {
        this.audit.refused('token.issued', { grantType: type }, request, error);
      }
      throw error;
    }
  }
}

/** A device that asks whether its user has decided (RFC 8628 §3.5) is refused nothing yet. */
function isStillWaiting(error: unknown): boolean {
  const waiting = ['authorization_pending', 'slow_down'];
  return error instanceof OAuthProblem && waiting.includes(error.error);
}
