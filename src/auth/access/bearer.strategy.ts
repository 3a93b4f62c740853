import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import type { HttpRequest } from '#src/http/index.js';
import { BearerTokens } from '../bearer/bearer-tokens.js';
import type { TokenPlace } from '../possession/confirmation.js';
import { REALM } from '../protocol/challenges.js';
import type { Principal } from '../bearer/principal.js';
import { setTokenLook } from './access.decorator.js';

/** What passport-http-bearer looks at: the places of a token, each at most once, and the request they are from. */
export interface BearerView {
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
