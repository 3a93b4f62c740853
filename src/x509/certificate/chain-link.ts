import { X509Certificate, type KeyObject } from 'node:crypto';
import { readCertificate, type CertificateFields } from './certificate-fields.js';
import { decodeName, formatDn } from './distinguished-name.js';

/** A certificate with everything that a chain is judged by. */
export interface ChainLink {
  certificate: X509Certificate;
  fields: CertificateFields;
  publicKey: KeyObject;
  /** SHA-256 of the DER, lower-case hex. */
  fingerprint: string;
  /** Canonical DNs. */
  subject: string;
  issuer: string;
  /** Names for finding issuers, see nameKey. */
  subjectKey: string;
  issuerKey: string;
  isSelfSigned: boolean;
}

/** Reads a DER certificate. Throws DerError, DistinguishedNameError or node's error. */
export function chainLink(der: Buffer): ChainLink {
  const certificate = new X509Certificate(der);
  const fields = readCertificate(certificate.raw);
  const subject = formatDn(decodeName(fields.subject));
  const issuer = formatDn(decodeName(fields.issuer));
  const subjectKey = nameKey(subject);
  const issuerKey = nameKey(issuer);
  return {
    certificate,
    fields,
    publicKey: certificate.publicKey,
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    subject,
    issuer,
    subjectKey,
    issuerKey,
    isSelfSigned: subjectKey === issuerKey && certificate.checkIssued(certificate),
  };
}

/**
 * A name for finding issuers: letters without case and blanks collapsed (RFC 5280 §7.1), whatever string
 * types are used. Only for finding: who somebody is, is decided by the canonical DN, and the signature by
 * the key.
 */
export function nameKey(dn: string): string {
  return dn.toLowerCase().replace(/\s+/g, ' ');
}

/** Whether `issuer` has issued and signed `link`. */
export function isIssuedBy(link: ChainLink, issuer: ChainLink): boolean {
  if (link.issuerKey !== issuer.subjectKey) return false;
  if (!link.certificate.checkIssued(issuer.certificate)) return false;
  try {
    return link.certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
