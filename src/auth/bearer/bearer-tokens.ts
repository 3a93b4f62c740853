import { Injectable } from '@nestjs/common';
import type { HttpRequest } from '#src/http/index.js';
import { TokenHolders, type PresentedToken } from '../possession/token-holders.js';
import { tokenMissing } from '../protocol/challenges.js';
import type { Principal } from './principal.js';
import { ExternalTokens } from './external-tokens.js';
import { VerifiedTokens } from './verified-tokens.js';

const NOT_IN_QUERY =
  'Tokens of this application are not taken from the query string; send the header';

/** Whose token a request carries: one of ours, or one of an identity provider whose tokens are accepted. */
@Injectable()
export class BearerTokens {
  constructor(
    private readonly verified: VerifiedTokens,
    private readonly external: ExternalTokens,
    private readonly holders: TokenHolders,
  ) {}

  /**
   * The principal of a token in the header of a request when it is known and bound to nothing: nobody has to be asked, and no
   * proof looked at. Undefined says nothing of the token.
   */
  known(token: string): Principal | undefined {
    const own = this.verified.known(token);
    return own?.confirmation === undefined ? own : undefined;
  }

  /**
   * The principal of a live token; undefined for any other. Throws 401 when the token is bound and the caller does not prove
   * to be its holder, or when it stands where its application may not put it, 403 for a group that is not the user's.
   */
  async principal(presented: PresentedToken): Promise<Principal | undefined> {
    const { token, request, place } = presented;
    const own = await this.verified.principal(token);
    if (own) {
      if (place === 'query' && own.isHeaderOnly) throw tokenMissing(NOT_IN_QUERY);
      await this.holders.check(own.confirmation, presented);
      return own;
    }
    return this.external.principal(presented, {
      group: header(request, 'x-grid-group'),
      setup: header(request, 'x-grid-setup'),
    });
  }
}

function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
