import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { Client } from '#src/registry/index.js';
import { isConfirmation, type Confirmation } from './confirmation.js';
import { DpopRequests } from './dpop-requests.js';
import { PeerCertificates } from './peer-certificates.js';

/** To what the tokens of a request at the token endpoint are bound. */
@Injectable()
export class SenderConstraint {
  constructor(
    private readonly dpop: DpopRequests,
    private readonly certificates: PeerCertificates,
  ) {}

  /**
   * The key of the DPoP proof, if there is one; else the certificate, of applications that prove themselves by it and of
   * those with `fapi2`, which get no other tokens; else nothing: the certificate of a user by which a token is asked for
   * does not bind it. Throws 400 `invalid_dpop_proof`, `use_dpop_nonce`, and `invalid_request` where a bond is missing.
   */
  async of(client: Client | undefined, request: HttpRequest): Promise<Confirmation | undefined> {
    const jkt = await this.dpop.thumbprintOf(request);
    if (jkt !== undefined) return { jkt };
    const hasCertificate = client?.authentication?.endsWith('tls_client_auth') ?? false;
    if (!hasCertificate && client?.profile !== 'fapi2') return undefined;
    const thumbprint = this.certificates.thumbprintOf(request);
    if (thumbprint !== undefined) return { 'x5t#S256': thumbprint };
    const detail =
      'Tokens of this application are bound: send a DPoP proof or a client certificate';
    throw new OAuthProblem('invalid_request', detail);
  }

  /**
   * Whether the request proves what another token is bound to, by the claim `cnf` of it: it brings a DPoP proof by the key, or comes
   * over a connection with the certificate. True for a token that is not bound. Throws 400 likewise.
   */
  async proves(claim: unknown, request: HttpRequest): Promise<boolean> {
    if (claim === undefined) return true;
    if (!isConfirmation(claim)) return false;
    if ('jkt' in claim) return (await this.dpop.thumbprintOf(request)) === claim.jkt;
    return this.certificates.thumbprintOf(request) === claim['x5t#S256'];
  }
}
