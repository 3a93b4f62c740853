import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
/** Within the 24 to 64 bytes that Standard Webhooks 1.0 allows. */
const SECRET_BYTES = 32;

/** Bytes of a new secret. */
export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** A secret as its owner gets it: `whsec_` and base64. */
export function secretText(secret: Buffer): string {
  return PREFIX + secret.toString('base64');
}

/** What is signed. */
export interface SignedMessage {
  id: string;
  /** Of this attempt, not of the event: receivers refuse what is older than some minutes. */
  timestamp: Date;
  body: string;
}

/** The headers of Standard Webhooks 1.0, with a signature (HMAC-SHA256) by each of the secrets. */
export function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly Buffer[],
): Record<string, string> {
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`, 'utf8');
    return `v1,${hmac.digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': signatures.join(' '),
  };
}
