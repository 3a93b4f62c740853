import { Inject, Injectable } from '@nestjs/common';
import {
  createLocalJWKSet,
  decodeJwt,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyOptions,
} from 'jose';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { signatureKeysOf, type Client } from '#src/registry/index.js';
import {
  ASSERTION_ALGORITHMS,
  CLOCK_SLACK_SECONDS,
  STRONG_ALGORITHMS,
} from '../possession/signature-algorithms.js';
import { type ProofKey, UsedProofsRepository } from '../possession/used-proofs.repository.js';

/** `client_assertion_type` of a signed JWT (RFC 7523 §2.2). */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** An assertion that is good for longer is refused: it would have to be remembered for as long. */
const MAX_SECONDS = 3600;

type KeyFinder = ReturnType<typeof createLocalJWKSet>;

/** Whose assertion it says it is, unverified; undefined when it is no JWT. */
export function subjectOfAssertion(assertion: string): string | undefined {
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** `private_key_jwt` (OpenID Connect Core §9, RFC 7523 §3): an application signs a statement with a key it has registered. */
@Injectable()
export class ClientAssertions {
  private readonly keySets = new WeakMap<object, KeyFinder>();

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly used: UsedProofsRepository,
  ) {}

  /**
   * True for an assertion of this application, for this server, in time, that was not shown before on any instance. With
   * `fapi2` it must name the issuer alone, as text (FAPI 2.0 Security Profile 5.3.2.1); others may name the endpoint.
   */
  async isProof(client: Client, assertion: string, request: HttpRequest): Promise<boolean> {
    const claims = await this.verified(client, assertion);
    if (!claims) return false;
    const { aud, iat = 0, exp = Infinity, jti } = claims;
    const now = this.clock.now() / 1000;
    const isInTime = iat <= now + CLOCK_SLACK_SECONDS && exp <= now + MAX_SECONDS;
    if (!isInTime || typeof jti !== 'string' || jti === '') return false;
    if (!this.isForUs(client, aud, request)) return false;
    const expiresAt = new Date((exp + CLOCK_SLACK_SECONDS) * 1000);
    return this.used.use({ ...keyOf(client, jti), expiresAt });
  }

  /** What was proved by it was not done: it may be shown again. */
  async forget(client: Client, assertion: string): Promise<void> {
    await this.used.forget(keyOf(client, String(decodeJwt(assertion).jti)));
  }

  private isForUs(client: Client, aud: JWTPayload['aud'], { originalUrl }: HttpRequest): boolean {
    const { publicUrl } = this.config;
    if (client.profile === 'fapi2') return aud === publicUrl;
    const [path = ''] = originalUrl.split('?');
    const ours = [publicUrl, `${publicUrl}/oauth2/token`, `${publicUrl}${path}`];
    return [aud].flat().some((one) => one !== undefined && ours.includes(one));
  }

  private async verified(client: Client, assertion: string): Promise<JWTPayload | undefined> {
    const isStrong = client.profile === 'fapi2';
    const options: JWTVerifyOptions = {
      algorithms: [...(isStrong ? STRONG_ALGORITHMS : ASSERTION_ALGORITHMS)],
      issuer: client.id,
      subject: client.id,
      requiredClaims: ['exp', 'jti', 'aud'],
      clockTolerance: CLOCK_SLACK_SECONDS,
      currentDate: new Date(this.clock.now()),
    };
    try {
      return await verifyByOneOf(this.keysOf(client), assertion, options);
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  private keysOf({ jwks = {} }: Client): KeyFinder {
    const known = this.keySets.get(jwks);
    if (known) return known;
    const finder = createLocalJWKSet({ keys: signatureKeysOf(jwks) });
    this.keySets.set(jwks, finder);
    return finder;
  }
}

function keyOf({ id }: Client, jti: string): ProofKey {
  return { owner: `client ${id}`, jti };
}

/** Without a key id several keys of the set may fit: each is tried. */
async function verifyByOneOf(
  keys: KeyFinder,
  assertion: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(assertion, keys, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(assertion, key, options)).payload;
      } catch (fault) {
        if (!(fault instanceof errors.JWSSignatureVerificationFailed)) throw fault;
      }
    }
    throw error;
  }
}
