import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import { randomToken, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { IdTokenKeysService } from '../keys/id-token-keys.service.js';
import { KeysService } from '../keys/keys.service.js';
import { signJwt } from '../keys/sign-jwt.js';
import type { SigningAlgorithm } from '../keys/stored-key.js';
import { verificationKey } from '../keys/verification-key.js';
import type { ConsentEntity } from '../stores/consent.entity.js';
import { WLCG_VERSION, type MintedToken } from './access-token.js';

const TYPE = 'JWT';
const ALGORITHMS = ['ES256', 'EdDSA', 'RS256'];
const REQUIRED = ['iss', 'sub', 'aud', 'exp', 'iat'];
// An application reads it at once; nothing here is opened by it.
const LIFE_SECONDS = 3600;

/** Claims of our ID tokens (OpenID Connect Core §2, WLCG profile 1.3, 2.1.1). Times are seconds since 1970. */
export interface IdTokenClaims {
  iss: string;
  sub: string;
  /** The application. */
  aud: string;
  exp: number;
  iat: number;
  auth_time: number;
  nonce?: string;
  acr: string;
  at_hash: string;
  sid: string;
  /** Nobody else's, of this issuer. */
  jti: string;
  'wlcg.ver': string;
  /** Those of the access token. */
  'wlcg.groups'?: readonly string[];
}

/** What a token of ours that comes back as `id_token_hint` says. */
export type IdTokenHint = Pick<IdTokenClaims, 'sub' | 'aud'> & { sid?: string };

/** Mints ID tokens, and reads those that come back as hints. */
@Injectable()
export class IdTokens {
  constructor(
    private readonly keys: KeysService,
    private readonly rsaKeys: IdTokenKeysService,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * The ID token beside an access token of the consent; undefined when the access token has no scope `openid`. It lives an
   * hour, or as long as the access token when that is less. RS256 is for applications that are registered with it. The nonce is that of the authorization request; a renewed ID
   * token has none (Core §12.2).
   */
  async mint(
    consent: Pick<ConsentEntity, 'authTime' | 'acr' | 'sid'>,
    access: MintedToken,
    { nonce, algorithm }: { nonce?: string | undefined; algorithm?: 'RS256' | undefined } = {},
  ): Promise<string | undefined> {
    const { authTime, acr, sid } = consent;
    const { sub, scope, client_id: aud, exp, 'wlcg.groups': groups } = access.claims;
    if (!scope.split(' ').includes('openid') || !authTime || acr === null || sid === null) {
      return undefined;
    }
    const key = await (algorithm === 'RS256' ? this.rsaKeys : this.keys).signingKey();
    const now = Math.floor(this.clock.now() / 1000);
    const claims: IdTokenClaims = {
      iss: this.config.publicUrl,
      sub,
      aud,
      exp: Math.min(exp, now + LIFE_SECONDS),
      iat: now,
      auth_time: Math.floor(authTime.getTime() / 1000),
      ...(nonce !== undefined && { nonce }),
      acr,
      at_hash: tokenHash(access.token, key.algorithm),
      sid,
      jti: randomToken(16),
      'wlcg.ver': WLCG_VERSION,
      ...(groups && { 'wlcg.groups': groups }),
    };
    return signJwt(claims, key, TYPE);
  }

  /**
   * What a hint says that we signed as ID token, expired or not (RP-Initiated Logout §4); undefined for anything else.
   * Throws Problem 503 when an unknown key cannot be looked up.
   */
  async read(token: string): Promise<IdTokenHint | undefined> {
    try {
      const { payload } = await jwtVerify(
        token,
        (header) => verificationKey(header.alg === 'RS256' ? this.rsaKeys : this.keys, header),
        {
          algorithms: ALGORITHMS,
          typ: TYPE,
          issuer: this.config.publicUrl,
          requiredClaims: REQUIRED,
          currentDate: new Date(0), // before every end: only whom it names counts
        },
      );
      return hintOf(payload);
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }
}

function hintOf({ sub, aud, sid }: JWTPayload): IdTokenHint | undefined {
  if (typeof sub !== 'string' || typeof aud !== 'string') return undefined;
  return { sub, aud, ...(typeof sid === 'string' && { sid }) };
}

/** `at_hash`: the left half of the hash that the algorithm of the ID token uses (Core §3.1.3.6). */
function tokenHash(token: string, algorithm: SigningAlgorithm): string {
  const hash = createHash(algorithm === 'EdDSA' ? 'sha512' : 'sha256')
    .update(token)
    .digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
}
