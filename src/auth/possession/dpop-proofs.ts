import { Inject, Injectable } from '@nestjs/common';
import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify, type JWTPayload } from 'jose';
import { sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { DpopNonces, NONCE_SECONDS } from './dpop-nonces.js';
import { CLOCK_SLACK_SECONDS, STRONG_ALGORITHMS } from './signature-algorithms.js';
import { UsedProofsRepository } from './used-proofs.repository.js';

/** Seconds for which a proof counts; its nonce ends earlier or not much later. */
const PROOF_SECONDS = 300;
const MAX_LENGTH = 8192;

/** Why a proof is none (RFC 9449 §5, §7, §8): the caller is told, with the nonce for the next try. */
export class DpopFault extends Error {
  constructor(
    readonly error: 'invalid_dpop_proof' | 'use_dpop_nonce',
    message: string,
  ) {
    super(message);
    this.name = 'DpopFault';
  }
}

interface ReadProof {
  thumbprint: string;
  claims: JWTPayload & { jti: string };
}

/** Proofs of possession in the header `DPoP` (RFC 9449 §4.3): signed by the key that they name, for one request, once. */
@Injectable()
export class DpopProofs {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly nonces: DpopNonces,
    private readonly used: UsedProofsRepository,
  ) {}

  /**
   * Thumbprint (RFC 7638, SHA-256) of the key whose holder makes this request for a token; undefined without a proof. A
   * proof is good once on all instances. Throws DpopFault.
   */
  async ofTokenRequest(request: HttpRequest): Promise<string | undefined> {
    const proof = headerOf(request);
    if (proof === undefined) return undefined;
    const { thumbprint, claims } = await this.read(proof, request);
    const shown = { owner: thumbprint, jti: claims.jti, expiresAt: this.lastMoment() };
    if (!(await this.used.use(shown))) throw invalid('The DPoP proof has been used before');
    return thumbprint;
  }

  /**
   * The same of a request with an access token, which the proof must name (`ath`); undefined without a proof. It is good once
   * on all instances, too. Throws DpopFault, and Problem 503 while the database is away.
   */
  async ofResourceRequest(request: HttpRequest, token: string): Promise<string | undefined> {
    const proof = headerOf(request);
    if (proof === undefined) return undefined;
    const { thumbprint, claims } = await this.read(proof, request);
    if (claims['ath'] !== sha256(token)) throw invalid('The DPoP proof is for another token (ath)');
    const shown = { owner: thumbprint, jti: claims.jti, expiresAt: this.lastMoment() };
    if (!(await this.used.useForRequest(shown))) {
      throw invalid('The DPoP proof has been used before');
    }
    return thumbprint;
  }

  /**
   * The same of a request that means nothing else when it comes again, of a machine whose clock may be wrong: the proof is not
   * remembered, and its nonce alone says how old it is (RFC 9449 §4.3). With a token it must name that. Throws DpopFault.
   */
  async ofRepeatableRequest(request: HttpRequest, token?: string): Promise<string | undefined> {
    const proof = headerOf(request);
    if (proof === undefined) return undefined;
    const { thumbprint, claims } = await this.read(proof, request, true);
    const ath = token === undefined ? undefined : sha256(token);
    if (claims['ath'] !== ath) throw invalid('The DPoP proof is for another token (ath)');
    return thumbprint;
  }

  /** When a proof that is good now is refused for its age, by an instance whose clock is behind, too. */
  private lastMoment(): Date {
    return new Date(this.clock.now() + NONCE_SECONDS * 1000);
  }

  /** Tells the caller the nonce of its next proof. */
  async announceNonce(request: HttpRequest): Promise<void> {
    const nonce = await this.nonces.current();
    const { res: response } = request;
    if (response && !response.headersSent) response.setHeader('DPoP-Nonce', nonce);
  }

  private async read(
    proof: string,
    request: HttpRequest,
    isTimedByNonce = false,
  ): Promise<ReadProof> {
    await this.announceNonce(request);
    const { thumbprint, claims } = await verified(proof, new Date(this.clock.now()));
    this.checkClaims(claims, request);
    if (!isTimedByNonce) this.checkTime(claims);
    const { nonce } = claims;
    if (typeof nonce !== 'string' || !(await this.nonces.isGood(nonce))) {
      throw new DpopFault(
        'use_dpop_nonce',
        'The DPoP proof needs the nonce of the DPoP-Nonce header',
      );
    }
    return { thumbprint, claims: claims as ReadProof['claims'] };
  }

  private checkClaims(claims: JWTPayload, request: HttpRequest): void {
    const { jti } = claims;
    if (typeof jti !== 'string' || jti === '') throw invalid('The DPoP proof has no jti');
    if (claims['htm'] !== request.method)
      throw invalid('The DPoP proof is for another method (htm)');
    if (!this.isForAddress(claims['htu'], request)) {
      throw invalid('The DPoP proof is for another address (htu)');
    }
  }

  private checkTime({ iat = Number.NaN }: JWTPayload): void {
    const now = this.clock.now() / 1000;
    if (!(iat <= now + CLOCK_SLACK_SECONDS && iat >= now - PROOF_SECONDS)) {
      throw invalid(`The DPoP proof is too old or from the future (iat)`);
    }
  }

  /** Compared without query and fragment, in the normal form of URLs (RFC 9449 §4.3). */
  private isForAddress(htu: unknown, { originalUrl }: HttpRequest): boolean {
    if (typeof htu !== 'string' || !URL.canParse(htu)) return false;
    const [path = ''] = originalUrl.split('?');
    const here = new URL(`${this.config.publicUrl}${path}`);
    const named = new URL(htu);
    return named.origin === here.origin && named.pathname === here.pathname;
  }
}

function headerOf({ headers }: HttpRequest): string | undefined {
  const proof = headers['dpop'];
  if (proof === undefined) return undefined;
  // Node joins repeated headers by a comma, which no proof holds.
  if (typeof proof === 'string' && proof.length <= MAX_LENGTH && !proof.includes(',')) return proof;
  throw invalid('Send one DPoP proof');
}

async function verified(
  proof: string,
  currentDate: Date,
): Promise<{ thumbprint: string; claims: JWTPayload }> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...STRONG_ALGORITHMS],
      requiredClaims: ['jti', 'htm', 'htu', 'iat'],
      clockTolerance: CLOCK_SLACK_SECONDS,
      currentDate,
    });
    const { jwk = {} } = protectedHeader; // EmbeddedJWK has refused a proof without it
    return { thumbprint: await calculateJwkThumbprint(jwk), claims: payload };
  } catch (error) {
    if (!(error instanceof errors.JOSEError) && !isKeyFault(error)) throw error;
    throw invalid('The DPoP proof is not one: see RFC 9449');
  }
}

/** A key that cannot be imported is refused by WebCrypto, not by jose. */
function isKeyFault(error: unknown): boolean {
  return error instanceof TypeError || error instanceof DOMException;
}

function invalid(message: string): DpopFault {
  return new DpopFault('invalid_dpop_proof', message);
}
