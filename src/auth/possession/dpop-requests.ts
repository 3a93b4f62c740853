import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { DpopFault, DpopProofs } from './dpop-proofs.js';

/** DPoP proofs of requests below /oauth2 (RFC 9449 §5, §8). */
@Injectable()
export class DpopRequests {
  private readonly known = new WeakMap<HttpRequest, Promise<string | undefined>>();

  constructor(private readonly proofs: DpopProofs) {}

  /**
   * Thumbprint of the key that the request proves; undefined without a proof. A request is asked once, and before its
   * application: who is told another nonce may send the same assertion again. Throws 400 `invalid_dpop_proof`, or
   * `use_dpop_nonce` with the nonce in the header `DPoP-Nonce`.
   */
  async thumbprintOf(request: HttpRequest): Promise<string | undefined> {
    const known = this.known.get(request) ?? this.read(request);
    this.known.set(request, known);
    return known;
  }

  private async read(request: HttpRequest): Promise<string | undefined> {
    try {
      return await this.proofs.ofTokenRequest(request);
    } catch (error) {
      if (!(error instanceof DpopFault)) throw error;
      throw new OAuthProblem(error.error, error.message);
    }
  }
}
