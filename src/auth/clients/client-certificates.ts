import { createHash, type X509Certificate } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { certificateOf, keysOf, type Client } from '#src/registry/index.js';
import { CertificateRefusal, PeerCertificates } from '../possession/peer-certificates.js';

/**
 * Applications that prove themselves by the client certificate of the connection, or the one that a trusted proxy forwards
 * (RFC 8705 §2).
 */
@Injectable()
export class ClientCertificates {
  constructor(
    private readonly certificates: PeerCertificates,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** True when the certificate is the application's. */
  isProof(client: Client, request: HttpRequest): boolean {
    return client.authentication === 'tls_client_auth'
      ? this.hasSubject(client, request)
      : this.isRegistered(client, request);
  }

  /** A certificate of a trusted CA with the registered DN (RFC 8705 §2.1); what was handed on to a job does not count. */
  private hasSubject({ subjectDn }: Client, request: HttpRequest): boolean {
    try {
      const holder = this.certificates.holderOf(request);
      return holder !== undefined && !holder.isLimited && holder.subject === subjectDn;
    } catch (error) {
      if (error instanceof CertificateRefusal) return false;
      throw error;
    }
  }

  /** One of the registered certificates, whoever signed it, while it is valid (RFC 8705 §2.2). */
  private isRegistered({ jwks }: Client, request: HttpRequest): boolean {
    const thumbprint = this.certificates.thumbprintOf(request);
    if (thumbprint === undefined) return false;
    return keysOf(jwks)
      .map(certificateOf)
      .some((one) => one && thumbprintOf(one) === thumbprint && this.isValidNow(one));
  }

  private isValidNow({ validFrom, validTo }: X509Certificate): boolean {
    const now = this.clock.now();
    return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
  }
}

function thumbprintOf({ raw }: X509Certificate): string {
  return createHash('sha256').update(raw).digest('base64url');
}
