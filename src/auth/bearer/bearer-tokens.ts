import { Injectable } from '@nestjs/common';
import type { HttpRequest } from '#src/platform/index.js';
import type { Principal } from './principal.js';
import { ExternalTokens } from './external-tokens.js';
import { VerifiedTokens } from './verified-tokens.js';

/** Whose token a request carries: one of ours, or one of an identity provider whose tokens are accepted. */
@Injectable()
export class BearerTokens {
  constructor(
    private readonly verified: VerifiedTokens,
    private readonly external: ExternalTokens,
  ) {}

  /** The principal of a live token; undefined for any other. Throws 403 for a group that is not the user's. */
  async principal(token: string, request: HttpRequest): Promise<Principal | undefined> {
    const own = await this.verified.principal(token);
    if (own) return own;
    return this.external.principal(token, request, {
      group: header(request, 'x-grid-group'),
      setup: header(request, 'x-grid-setup'),
    });
  }
}

function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
