import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import { randomToken, type Clock } from '#src/kernel/index.js';
import { CLOCK, CONFIG, type Config } from '#src/platform/index.js';
import { KeysService } from '../keys/keys.service.js';
import type { Scope } from '../protocol/scopes.js';
import { signJwt } from '../keys/sign-jwt.js';

const TYPE = 'at+jwt';
const ALGORITHMS = ['ES256', 'EdDSA'];
const REQUIRED = ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id', 'scope', 'group', 'setup'];

/** Claims of our access tokens (RFC 9068 §2.2 and contract 4). Times are seconds since 1970. */
export interface AccessTokenClaims {
  iss: string;
  sub: string;
  aud: string | string[];
  exp: number;
  iat: number;
  jti: string;
  client_id: string;
  scope: string;
  group: string;
  setup: string;
}

/** For whom and what an access token is made. */
export interface AccessTokenInput {
  user: string;
  group: string;
  setup: string;
  clientId: string;
  scopes: readonly Scope[];
  /** Id of the user's consent; revoking it revokes the token. */
  consentId?: string;
  /** The token ends then at the latest. */
  notAfter?: Date;
}

/** A new access token. */
export interface MintedToken {
  token: string;
  expiresInSeconds: number;
  claims: AccessTokenClaims;
}

/** The id of the consent that a token belongs to, undefined for tokens without one. */
export function consentIdOf(jti: string): string | undefined {
  const dot = jti.indexOf('.');
  return dot < 0 ? undefined : jti.slice(0, dot);
}

/** Mints and verifies access tokens: signed JWTs of RFC 9068. */
@Injectable()
export class AccessTokens {
  constructor(
    private readonly keys: KeysService,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Signs a token with the current key. It lives GRID_ACCESS_TOKEN_TTL, but not beyond `notAfter`. Its `jti` starts with
   * the consent's id, so that revoking the consent needs no list of its tokens.
   */
  async mint(input: AccessTokenInput): Promise<MintedToken> {
    const key = await this.keys.signingKey();
    const now = Math.floor(this.clock.now() / 1000);
    const end = Math.floor((input.notAfter?.getTime() ?? Infinity) / 1000);
    const exp = Math.min(now + this.config.accessTokenTtl, end);
    const serial = randomToken(16);
    const claims: AccessTokenClaims = {
      iss: this.config.publicUrl,
      sub: input.user,
      aud: this.config.publicUrl,
      exp,
      iat: now,
      jti: input.consentId === undefined ? serial : `${input.consentId}.${serial}`,
      client_id: input.clientId,
      scope: input.scopes.join(' '),
      group: input.group,
      setup: input.setup,
    };
    const token = signJwt(claims, key, TYPE);
    return { token, expiresInSeconds: exp - now, claims };
  }

  /**
   * The claims of a token that we signed for ourselves and that is not expired; undefined for anything else. Whether
   * it has been revoked is another question. Throws Problem 503 when an unknown key cannot be looked up.
   */
  async verify(token: string): Promise<AccessTokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, (header) => this.keyOf(header), {
        algorithms: ALGORITHMS,
        typ: TYPE,
        issuer: this.config.publicUrl,
        audience: this.config.publicUrl,
        requiredClaims: REQUIRED,
        currentDate: new Date(this.clock.now()),
      });
      return isOurs(payload) ? payload : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  private async keyOf(header: { kid?: string; alg: string }) {
    const key = header.kid === undefined ? undefined : await this.keys.publicKey(header.kid);
    if (!key || key.algorithm !== header.alg) throw new errors.JWKSNoMatchingKey();
    return key.publicKey;
  }
}

function isOurs(payload: JWTPayload): payload is JWTPayload & AccessTokenClaims {
  const texts = ['sub', 'jti', 'client_id', 'scope', 'group', 'setup'];
  return texts.every((name) => typeof payload[name] === 'string');
}
