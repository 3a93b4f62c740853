import type { UserCertificate } from './registry.types.js';

/** A certificate as one line for people: the DN, and its CA where only that one counts. */
export function certificateText({ subject, issuer }: UserCertificate): string {
  return issuer === undefined ? subject : `${subject} (issuer ${issuer})`;
}

/** What an entry claims: the DN from that CA, or from any. Two entries claim the same when the texts are equal. */
export function certificateKey(subject: string, issuer?: string): string {
  return JSON.stringify(issuer === undefined ? [subject] : [subject, issuer]);
}
