import { Injectable } from '@nestjs/common';
import type { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { challenged } from '../protocol/challenges.js';
import { isConfirmation, type TokenPlace } from './confirmation.js';
import { DpopFault, DpopProofs } from './dpop-proofs.js';
import { STRONG_ALGORITHMS } from './signature-algorithms.js';
import { PeerCertificates } from './peer-certificates.js';

/** An access token as a request carries it. */
export interface PresentedToken {
  token: string;
  place: TokenPlace;
  request: HttpRequest;
}

/** Whether it is the holder who shows a token that is bound to a key or certificate. */
@Injectable()
export class TokenHolders {
  private readonly proved = new WeakMap<HttpRequest, string>();

  constructor(
    private readonly proofs: DpopProofs,
    private readonly certificates: PeerCertificates,
  ) {}

  /**
   * Checks the bond of a token (its claim `cnf`). A token that is bound to a DPoP key comes as `Authorization: DPoP` with a
   * proof and never as bearer token, an unbound one never as DPoP token (RFC 9449 §7.1, §7.2); one that is bound to a
   * certificate comes over a connection with it (RFC 8705 §3). An answer that lasts may ask again: a proof counts for its whole
   * request. Throws Problem 401 with a challenge.
   */
  async check(confirmation: unknown, presented: PresentedToken): Promise<void> {
    const { place, request } = presented;
    if (confirmation === undefined) {
      if (place !== 'dpop') return;
      throw dpopChallenge('invalid_token', 'The access token is not bound to a DPoP key');
    }
    if (!isConfirmation(confirmation)) {
      throw challenged('Bearer', 'invalid_token', 'The access token is bound in an unknown way');
    }
    if ('jkt' in confirmation) {
      await this.checkKey(confirmation.jkt, presented);
      return;
    }
    const isHolder = confirmation['x5t#S256'] === this.certificates.thumbprintOf(request);
    if (!isHolder || place === 'dpop') {
      const detail = 'The access token is bound to a client certificate';
      throw challenged('Bearer', 'invalid_token', detail);
    }
  }

  /**
   * Thumbprint of the key whose holder makes a request that means nothing else when it comes again, with this token or with
   * none. Throws Problem 401 with a challenge.
   */
  async keyOf(request: HttpRequest, token?: string): Promise<string> {
    return this.proven(request, () => this.proofs.ofRepeatableRequest(request, token));
  }

  private async checkKey(jkt: string, { place, token, request }: PresentedToken): Promise<void> {
    if (place !== 'dpop') {
      const detail = 'The access token is bound to a DPoP key: send it as DPoP token';
      throw dpopChallenge('invalid_token', detail);
    }
    if (this.proved.get(request) === token) return;
    const thumbprint = await this.proven(request, () =>
      this.proofs.ofResourceRequest(request, token),
    );
    if (thumbprint !== jkt) {
      throw dpopChallenge('invalid_token', 'The access token is bound to another DPoP key');
    }
    this.proved.set(request, token);
  }

  private async proven(
    request: HttpRequest,
    read: () => Promise<string | undefined>,
  ): Promise<string> {
    try {
      const thumbprint = await read();
      if (thumbprint !== undefined) return thumbprint;
    } catch (error) {
      if (!(error instanceof DpopFault)) throw error;
      throw dpopChallenge(error.error, error.message);
    }
    await this.proofs.announceNonce(request);
    throw dpopChallenge('invalid_dpop_proof', 'Send a DPoP proof');
  }
}

/** 401 with the challenge of RFC 9449 §7.1, which names the algorithms of proofs. */
export function dpopChallenge(
  error: DpopFault['error'] | 'invalid_token',
  detail: string,
): OAuthProblem {
  return challenged('DPoP', error, detail, { algs: STRONG_ALGORITHMS.join(' ') });
}
