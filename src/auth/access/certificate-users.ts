import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { requestIdOf, type HttpRequest } from '#src/http/index.js';
import { LOGGER, Metrics, type Logger } from '#src/runtime/index.js';
import { RegistryService, type User } from '#src/registry/index.js';
import {
  CertificateRefusal,
  PeerCertificates,
  type CertificateHolder,
} from '../possession/peer-certificates.js';

/** The user of a good certificate. */
export interface CertifiedUser {
  user: User;
  /** When the certificate ends or, before it, one of its chain. */
  notAfter: Date;
  /** It is a limited proxy, which may do less than its user. */
  isLimited: boolean;
}

/**
 * Whose client certificate a request comes with: that of the TLS connection, or the one that a trusted proxy
 * forwards; either is checked here. The caller gets one neutral message, the log the reason.
 */
@Injectable()
export class CertificateUsers {
  private readonly refusals;

  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly certificates: PeerCertificates,
    private readonly registry: RegistryService,
    metrics: Metrics,
  ) {
    this.refusals = metrics.counter(
      'gridgate_certificate_refusals_total',
      'Client certificates that were refused, by reason',
      ['reason'],
    );
  }

  /**
   * The user of the certificate, and how far it goes. Throws 401 `invalid_client` without a good certificate of a known
   * user.
   */
  async certified(request: HttpRequest): Promise<CertifiedUser> {
    const certified = await this.certifiedIfAny(request);
    if (certified) return certified;
    throw refused('A client certificate is required');
  }

  /** The user of the certificate, undefined when there is none. Throws 401 for a bad or unknown one. */
  async userOf(request: HttpRequest): Promise<User | undefined> {
    return (await this.certifiedIfAny(request))?.user;
  }

  /** As `certified`, undefined without a certificate. */
  async certifiedIfAny(request: HttpRequest): Promise<CertifiedUser | undefined> {
    const holder = this.holderOf(request);
    if (holder === undefined) return undefined;
    const { subject, issuer, notAfter, isLimited } = holder;
    const known = (await this.registry.current()).userByCertificate(subject, issuer);
    const user = known ?? (await this.registry.renewed()).userByCertificate(subject, issuer);
    if (user) return { user, notAfter, isLimited };
    const from = issuer ?? 'a CA that is not itself a trusted one';
    const detail = `no user of the registry has the DN ${subject} from ${from}`;
    this.note(request, 'unknown-user', detail);
    throw refused('The client certificate is not accepted');
  }

  private holderOf(request: HttpRequest): CertificateHolder | undefined {
    try {
      return this.certificates.holderOf(request);
    } catch (error) {
      if (!(error instanceof CertificateRefusal)) throw error;
      this.note(request, error.reason, error.message);
      throw refused(error.advice ?? 'The client certificate is not accepted');
    }
  }

  private note(request: HttpRequest, reason: string, detail: string): void {
    this.refusals.inc({ reason });
    this.logger.warn({ requestId: requestIdOf(request), reason, detail }, 'certificate refused');
  }
}

function refused(description: string): OAuthProblem {
  return new OAuthProblem('invalid_client', description, { status: 401 });
}
