import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import { randomToken, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { KeysService } from '../keys/keys.service.js';
import { signJwt } from '../keys/sign-jwt.js';
import { verificationKey } from '../keys/verification-key.js';
import { dpopKeyOf, isConfirmation } from './confirmation.js';

const TYPE = 'worker+jwt';
const ALGORITHMS = ['ES256', 'EdDSA'];
const LIFE_SECONDS = 3600;

/** A worker and the thumbprint (RFC 7638, SHA-256) of its key. */
export interface WorkerIdentity {
  id: string;
  jkt: string;
}

/** A new token of a worker. */
export interface MintedWorkerToken {
  token: string;
  expiresInSeconds: number;
}

/**
 * Tokens of workers, signed by the keys of access tokens and nothing of their kind: another type and another audience, no user,
 * group or scope. Whoever reads access tokens takes none of these, and nobody takes an access token for one of these. Each is
 * bound to the key of its worker and lives an hour; whether the worker is still one is asked with each request.
 */
@Injectable()
export class WorkerTokens {
  constructor(
    private readonly keys: KeysService,
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Throws Problem 503 while there is no signing key. */
  async mint({ id, jkt }: WorkerIdentity): Promise<MintedWorkerToken> {
    const iat = Math.floor(this.clock.now() / 1000);
    const claims = {
      iss: this.config.publicUrl,
      sub: id,
      aud: this.audience,
      exp: iat + LIFE_SECONDS,
      iat,
      jti: randomToken(16),
      cnf: { jkt },
    };
    const token = await signJwt(claims, await this.keys.signingKey(), TYPE);
    return { token, expiresInSeconds: LIFE_SECONDS };
  }

  /** Whose token it is; undefined for any that is not ours, of a worker, and alive. Throws Problem 503 when an unknown key cannot be looked up. */
  async verify(token: string): Promise<WorkerIdentity | undefined> {
    try {
      const { payload } = await jwtVerify(token, (header) => verificationKey(this.keys, header), {
        algorithms: ALGORITHMS,
        typ: TYPE,
        issuer: this.config.publicUrl,
        audience: this.audience,
        requiredClaims: ['sub', 'exp', 'cnf'],
        currentDate: new Date(this.clock.now()),
      });
      const { sub: id, cnf } = payload;
      const jkt = isConfirmation(cnf) ? dpopKeyOf(cnf) : undefined;
      return id === undefined || jkt === undefined ? undefined : { id, jkt };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  private get audience(): string {
    return `${this.config.publicUrl.replace(/\/$/, '')}/workers`;
  }
}
