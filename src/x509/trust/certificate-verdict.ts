import type { X509Certificate } from 'node:crypto';

/** Why a client certificate is refused: the closed list for log and metrics. */
export type RefusalReason =
  | 'none'
  | 'malformed'
  | 'untrusted'
  | 'expired'
  | 'not-yet-valid'
  | 'wrong-purpose'
  | 'outside-namespace'
  | 'revoked'
  | 'crl-expired'
  | 'crl-missing'
  | 'proxy-not-allowed'
  | 'invalid-proxy';

/** The chain is good. */
export interface AcceptedCertificate {
  ok: true;
  /** Canonical DN of the end entity (behind a proxy: of its user). */
  subject: string;
  /**
   * Canonical DN of the CA that signed the end entity, when that CA is itself one of the trusted ones. The name of a CA
   * that was only sent along proves nothing: any CA above it could have made one of that name.
   */
  issuer: string | undefined;
  /** SHA-256 of the end entity's certificate, lower-case hex. */
  fingerprint: string;
  /** The earliest end of validity in the chain. */
  notAfter: Date;
  /** Leaf first, trusted CA last. */
  chain: X509Certificate[];
  /** Present when the leaf is a proxy: how many there are, and whether one of them is limited. */
  proxy?: { depth: number; isLimited: boolean };
}

/** The chain is refused. */
export interface RefusedCertificate {
  ok: false;
  reason: RefusalReason;
  /** For the log, never for the caller. */
  message: string;
}

/** What TrustedAuthorities.verify answers. */
export type CertificateVerdict = AcceptedCertificate | RefusedCertificate;

/** Makes a refusal. */
export function refuse(reason: RefusalReason, message: string): RefusedCertificate {
  return { ok: false, reason, message };
}
