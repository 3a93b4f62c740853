import { TLSSocket } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import {
  AddressList,
  CONFIG,
  ForwardedCertificateError,
  Metrics,
  parseForwardedCertificate,
  presentedChain,
  TrustedAuthorities,
  type CertificateVerdict,
  type Config,
  type HttpRequest,
} from '#src/platform/index.js';

const CHAIN_HEADER = 'client-cert-chain';

/**
 * The client certificate of a request and what the trusted CAs say of it. Behind a trusted proxy it is the one in
 * the proxy's header (RFC 9440), and only that: the proxy's own certificate is nobody's. From anywhere else such a
 * header is ignored and counted, and the certificate is that of the TLS connection.
 */
@Injectable()
export class PeerCertificate {
  private readonly proxies: AddressList;
  private readonly chains = new WeakMap<object, Buffer[]>();
  private readonly ignored;

  constructor(
    private readonly authorities: TrustedAuthorities,
    metrics: Metrics,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.proxies = AddressList.parse(config.trustedProxies);
    this.ignored = metrics.counter(
      'gridgate_forwarded_certificates_ignored_total',
      'Certificate headers from addresses that are not trusted proxies',
    );
  }

  /** The verdict; `none` when no certificate was shown. */
  verdict(request: HttpRequest): CertificateVerdict {
    const form = this.config.clientCertHeader;
    const header = request.headers[form];
    if (!this.proxies.contains(request.socket.remoteAddress)) {
      if (header !== undefined || request.headers[CHAIN_HEADER] !== undefined) this.ignored.inc();
      return this.authorities.verify(this.chainOf(request.socket));
    }
    try {
      const chain = parseForwardedCertificate(form, text(header), text(request.headers[CHAIN_HEADER]));
      return this.authorities.verify(chain);
    } catch (error) {
      if (!(error instanceof ForwardedCertificateError)) throw error;
      return { ok: false, reason: 'malformed', message: error.message };
    }
  }

  private chainOf(socket: object): Buffer[] {
    if (!(socket instanceof TLSSocket)) return [];
    const known = this.chains.get(socket);
    if (known) return known;
    const chain = presentedChain(socket); // costs a walk over the chain; once for each connection
    this.chains.set(socket, chain);
    return chain;
  }
}

function text(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
