import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

const MAX_CHAIN = 16;

/**
 * The certificates that a TLS client has shown, as DER, its own first; empty when it has shown none. The
 * server must ask with `requestCert: true, rejectUnauthorized: false`. On a resumed session only the client's
 * own is left (TrustedAuthorities remembers the rest).
 */
export function presentedChain(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = [];
  let certificate = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined;
  while (certificate?.raw !== undefined && chain.length < MAX_CHAIN) {
    chain.push(certificate.raw);
    // A self-signed certificate is its own issuer.
    const next: DetailedPeerCertificate | undefined = certificate.issuerCertificate;
    if (next === certificate) break;
    certificate = next;
  }
  return chain;
}
