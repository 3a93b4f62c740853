import { Injectable } from '@nestjs/common';
import type { HttpRequest } from '#src/platform/index.js';
import type { Principal } from '../principal.js';
import { VerifiedTokens } from './verified-tokens.js';

/** Whose token a request carries. */
@Injectable()
export class BearerTokens {
  constructor(private readonly verified: VerifiedTokens) {}

  /** The principal of a live token; undefined for any other. */
  async principal(token: string, _request: HttpRequest): Promise<Principal | undefined> {
    return this.verified.principal(token);
  }
}
