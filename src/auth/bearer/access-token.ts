import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import { randomToken, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { APPLICATION_PREFIX, type User } from '#src/registry/index.js';
import type { Confirmation } from '../possession/confirmation.js';
import { KeysService } from '../keys/keys.service.js';
import { ANY_AUDIENCE, audienceClaim } from '../protocol/audience.js';
import { signJwt } from '../keys/sign-jwt.js';
import { verificationKey } from '../keys/verification-key.js';
import { subjectOf } from './subject.js';

const TYPE = 'at+jwt';
const ALGORITHMS = ['ES256', 'EdDSA'];
const REQUIRED = ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id', 'scope', 'group', 'setup'];

/** `wlcg.ver` of our tokens: profiles up to 1.3 demand this value (WLCG profile 1.3, 2.1.1). */
export const WLCG_VERSION = '1.0';

/** Clocks of those who check a token may be behind ours by this (WLCG profile 1.3, 4.3.1). */
const BACKDATED_SECONDS = 60;

/** Life of a token with a storage scope at most (WLCG profile 1.3, 4.3.1). */
const STORAGE_TTL_SECONDS = 3600;

/** Claims of our access tokens (RFC 9068 §2.2). Times are seconds since 1970. */
export interface AccessTokenClaims {
  iss: string;
  /** Opaque and for life; the name in tokens without `wlcg.ver`, which an older version of the service has made. */
  sub: string;
  aud: string | string[];
  exp: number;
  nbf?: number;
  iat: number;
  jti: string;
  client_id: string;
  scope: string;
  group: string;
  setup: string;
  preferred_username?: string;
  'wlcg.ver'?: string;
  'wlcg.groups'?: string[];
  /** Who acts with it for the user, and for whom in turn (RFC 8693 §4.1). */
  act?: ActorClaim;
  /** To what the token is bound (RFC 7800). */
  cnf?: Confirmation;
}

/** An application that acts, and the one that had the token before. */
export interface ActorClaim {
  sub: string;
  act?: ActorClaim;
}

/** For whom and what an access token is made. */
export interface AccessTokenInput {
  user: Pick<User, 'name' | 'sub'>;
  group: string;
  setup: string;
  clientId: string;
  scopes: readonly string[];
  /** Services that it is for; this one when absent. */
  audiences?: readonly string[];
  /** Claim `wlcg.groups`. */
  groups?: readonly string[];
  /** Id of what it comes from, a consent or another token; revoking that revokes the token. */
  parentId?: string;
  act?: ActorClaim;
  /** To what the token is bound (RFC 7800). */
  confirmation?: Confirmation | undefined;
  /** The token ends then at the latest. */
  notAfter?: Date;
}

/** A new access token. */
export interface MintedToken {
  token: string;
  expiresInSeconds: number;
  claims: AccessTokenClaims;
}

/** The ids that a token dies with: its own, and those of the consent and the tokens that it comes from. */
export function lineageOf(jti: string): string[] {
  const serials = jti.split('.');
  return serials.map((_serial, place) => serials.slice(0, place + 1).join('.'));
}

/** The name of the user, as it was when the token was made. */
export function userNameOf(claims: AccessTokenClaims): string {
  return claims.preferred_username ?? claims.sub;
}

/** Who an application is that acts for itself: under this name, which no user can have, it owns jobs and files. */
export function applicationItself(id: string): { name: string; sub: string } {
  return { name: `${APPLICATION_PREFIX}${id}`, sub: id };
}

/** True for a token that an application has for itself (RFC 9068 §2.2: its `sub` is the application), or that comes from one. */
export function isOfApplication({
  sub,
  preferred_username: name,
}: Pick<AccessTokenClaims, 'sub' | 'preferred_username'>): boolean {
  return name === applicationItself(sub).name;
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
   * Signs a token with the current key. It lives GRID_ACCESS_TOKEN_TTL, but not beyond `notAfter`. With a storage scope it lives
   * an hour at most. Its `jti` starts with the id of what it comes from, so that revoking that needs no list of tokens.
   */
  async mint(input: AccessTokenInput): Promise<MintedToken> {
    const key = await this.keys.signingKey();
    const now = Math.floor(this.clock.now() / 1000);
    const end = Math.floor((input.notAfter?.getTime() ?? Infinity) / 1000);
    const exp = Math.min(now + this.secondsOf(input.scopes), end);
    const serial = randomToken(16);
    const claims: AccessTokenClaims = {
      iss: this.config.publicUrl,
      sub: subjectOf(input.user),
      aud: audienceClaim(input.audiences ?? [this.config.publicUrl]),
      exp,
      nbf: now - BACKDATED_SECONDS,
      iat: now,
      jti: input.parentId === undefined ? serial : `${input.parentId}.${serial}`,
      client_id: input.clientId,
      scope: input.scopes.join(' '),
      group: input.group,
      setup: input.setup,
      preferred_username: input.user.name,
      'wlcg.ver': WLCG_VERSION,
      ...(input.groups && { 'wlcg.groups': [...input.groups] }),
      ...(input.act && { act: input.act }),
      ...(input.confirmation && { cnf: input.confirmation }),
    };
    const token = await signJwt(claims, key, TYPE);
    return { token, expiresInSeconds: exp - now, claims };
  }

  /**
   * The claims of a token that we signed and that is not expired; undefined for anything else. Whether it has been
   * revoked and whom it is for are other questions. Throws Problem 503 when an unknown key cannot be looked up.
   */
  async verify(token: string): Promise<AccessTokenClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, (header) => verificationKey(this.keys, header), {
        algorithms: ALGORITHMS,
        typ: TYPE,
        issuer: this.config.publicUrl,
        requiredClaims: REQUIRED,
        currentDate: new Date(this.clock.now()),
      });
      return isOurs(payload) ? payload : undefined;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  /** Is the token for this service, or for every one where that is accepted? */
  isForService({ aud }: Pick<AccessTokenClaims, 'aud'>): boolean {
    const { publicUrl, acceptAnyAudience } = this.config;
    const audiences = [aud].flat();
    return audiences.includes(publicUrl) || (acceptAnyAudience && audiences.includes(ANY_AUDIENCE));
  }

  private secondsOf(scopes: readonly string[]): number {
    const { accessTokenTtl } = this.config;
    const isForStorage = scopes.some((scope) => scope.startsWith('storage.'));
    return isForStorage ? Math.min(accessTokenTtl, STORAGE_TTL_SECONDS) : accessTokenTtl;
  }
}

function isOurs(payload: JWTPayload): payload is JWTPayload & AccessTokenClaims {
  const { aud } = payload;
  if (typeof aud !== 'string' && !aud?.every((one) => typeof one === 'string')) return false;
  const texts = ['sub', 'jti', 'client_id', 'scope', 'group', 'setup'];
  return texts.every((name) => typeof payload[name] === 'string');
}
