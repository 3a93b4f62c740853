import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { LOGGER, Metrics, requestIdOf, type HttpRequest, type Logger } from '#src/platform/index.js';
import { RegistryService, type User } from '#src/registry/index.js';
import { PeerCertificate } from './peer-certificate.js';

/** Whose client certificate a request comes with. The caller gets a neutral message, the log the reason. */
@Injectable()
export class CertificateStrategy {
  @Inject(LOGGER) private readonly logger!: Logger;
  private readonly refusals;

  constructor(
    private readonly certificates: PeerCertificate,
    private readonly registry: RegistryService,
    metrics: Metrics,
  ) {
    this.refusals = metrics.counter(
      'gridgate_certificate_refusals_total',
      'Client certificates that were refused, by reason',
      ['reason'],
    );
  }

  /** The user of the certificate. Throws 401 `invalid_client` without a good certificate of a known user. */
  async authenticate(request: HttpRequest): Promise<User> {
    const user = await this.userOf(request);
    if (user) return user;
    throw refused('A client certificate is required');
  }

  /** The user of the certificate, undefined when there is none. Throws 401 for a bad or unknown one. */
  async userOf(request: HttpRequest): Promise<User | undefined> {
    const verdict = this.certificates.verdict(request);
    if (!verdict.ok) {
      if (verdict.reason === 'none') return undefined;
      this.note(request, verdict.reason, verdict.message);
      throw refused(ADVICE[verdict.reason] ?? 'The client certificate is not accepted');
    }
    const user = (await this.registry.current()).userByDn(verdict.subject);
    if (user) return user;
    this.note(request, 'unknown-user', `${verdict.subject} is not in the registry`);
    throw refused('The client certificate is not accepted');
  }

  private note(request: HttpRequest, reason: string, detail: string): void {
    this.refusals.inc({ reason });
    this.logger.warn({ requestId: requestIdOf(request), reason, detail }, 'certificate refused');
  }
}

/** Of all reasons the caller is told one: it can be acted on and tells nothing about trust (contract 2). */
const ADVICE: Partial<Record<string, string>> = {
  'proxy-not-allowed':
    'Proxy certificates (RFC 3820) are not accepted here; use the end-entity certificate itself',
};

function refused(description: string): OAuthProblem {
  return new OAuthProblem('invalid_client', description, { status: 401 });
}
