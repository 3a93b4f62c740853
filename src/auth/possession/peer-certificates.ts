import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { Inject, Injectable } from '@nestjs/common';
import {
  ForwardedCertificateError,
  parseForwardedCertificate,
  TrustedAuthorities,
} from '#src/x509/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { LOGGER, type Logger, Metrics } from '#src/runtime/index.js';
import { AddressList } from '#src/kernel/index.js';
import { requestIdOf } from '#src/http/index.js';

/** A client certificate was shown and is not good. `advice` may be told to the caller, the message to the log. */
export class CertificateRefusal extends Error {
  constructor(
    readonly reason: string,
    message: string,
    readonly advice?: string,
  ) {
    super(message);
    this.name = 'CertificateRefusal';
  }
}

/** Whose certificate it is, in canonical DNs; the issuer only when it is a trusted CA itself. */
export interface CertificateHolder {
  subject: string;
  issuer: string | undefined;
  /** The earliest end of validity in the chain. */
  notAfter: Date;
  /** Shown by a limited proxy: one that was handed on to where jobs run. */
  isLimited: boolean;
}

/** What a caller can act on; every other reason is for the log alone. */
const ADVICE: Partial<Record<string, string>> = {
  'proxy-not-allowed':
    'Proxy certificates (RFC 3820) are not accepted here: use the end-entity certificate',
  'outside-namespace':
    'The certificate authority of this client certificate may not sign certificates of this name',
};

/**
 * The certificate a request comes with: that of the TLS connection, or the one that a trusted proxy forwards. Either
 * is verified here. From any other address the header is ignored and counted.
 */
@Injectable()
export class PeerCertificates {
  private readonly proxies: AddressList;
  private readonly ignored;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly authorities: TrustedAuthorities,
    metrics: Metrics,
  ) {
    this.proxies = AddressList.parse(config.trustedProxies);
    this.ignored = metrics.counter(
      'gridgate_forwarded_certificates_ignored_total',
      'Certificate headers from addresses that are not trusted proxies',
    );
  }

  /** The end entity; undefined without a certificate. Throws CertificateRefusal for a bad one. */
  holderOf(request: IncomingMessage): CertificateHolder | undefined {
    const chain = this.forwarded(request) ?? presented(request);
    if (chain.length === 0) return undefined;
    const verdict = this.authorities.verify(chain);
    if (verdict.ok) {
      const { subject, issuer, notAfter, proxy } = verdict;
      return { subject, issuer, notAfter, isLimited: proxy?.isLimited ?? false };
    }
    throw new CertificateRefusal(verdict.reason, verdict.message, ADVICE[verdict.reason]);
  }

  /**
   * SHA-256 thumbprint (`x5t#S256`, RFC 8705 §3.1) of the certificate whose key the caller holds, whoever issued it;
   * undefined without one.
   */
  thumbprintOf(request: IncomingMessage): string | undefined {
    const [leaf] = this.shown(request);
    return leaf && createHash('sha256').update(leaf).digest('base64url');
  }

  /** A forwarded certificate that cannot be read counts as none. */
  private shown(request: IncomingMessage): Buffer[] {
    try {
      return this.forwarded(request) ?? presented(request);
    } catch (error) {
      if (error instanceof CertificateRefusal) return [];
      throw error;
    }
  }

  /** The forwarded chain (empty: none was shown to the proxy), or undefined when no trusted proxy speaks. */
  private forwarded(request: IncomingMessage): Buffer[] | undefined {
    const form = this.config.clientCertHeader;
    const header = request.headers[form];
    if (!this.proxies.contains(request.socket.remoteAddress)) {
      if (header !== undefined) this.noteIgnored(request, form);
      return undefined;
    }
    try {
      const chain = request.headers['client-cert-chain'];
      return parseForwardedCertificate(form, textOf(header), textOf(chain));
    } catch (error) {
      if (!(error instanceof ForwardedCertificateError)) throw error;
      throw new CertificateRefusal('malformed', error.message);
    }
  }

  private noteIgnored(request: IncomingMessage, header: string): void {
    this.ignored.inc();
    this.logger.warn(
      { requestId: requestIdOf(request), header, address: request.socket.remoteAddress },
      'certificate header from an address that is no trusted proxy: ignored',
    );
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value;
}

const CHAIN = Symbol('presented chain');

/** The chain of the TLS connection, leaf first; read once per connection. */
function presented(request: IncomingMessage): Buffer[] {
  const socket = request.socket as TLSSocket & { [CHAIN]?: Buffer[] };
  if (typeof socket.getPeerCertificate !== 'function') return [];
  return (socket[CHAIN] ??= chainOf(socket));
}

function chainOf(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let certificate = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined;
  while (certificate?.raw && chain.length < 16) {
    chain.push(certificate.raw);
    const { issuerCertificate: issuer } = certificate as {
      issuerCertificate?: DetailedPeerCertificate;
    };
    certificate = issuer === certificate ? undefined : issuer;
  }
  return chain;
}
