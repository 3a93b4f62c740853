import { randomBytes } from 'node:crypto';
import { sha256 } from '#src/kernel/index.js';

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Bytes from here on would favour the first letters of the alphabet. */
const FAIR_BYTES = 256 - (256 % ALPHANUMERIC.length);

/** Random letters and digits from the operating system's generator; 30 of them are 178 bit. */
export function randomAlphanumeric(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR_BYTES && text.length < length)
        text += ALPHANUMERIC.charAt(byte % ALPHANUMERIC.length);
    }
  }
  return text;
}

/** A code verifier of 48 letters and digits, 285 bit (RFC 7636 §4.1 asks for 43 to 128 characters). */
export function createCodeVerifier(): string {
  return randomAlphanumeric(48);
}

/** The S256 challenge of a verifier (RFC 7636 §4.2). */
export function codeChallengeS256(verifier: string): string {
  return sha256(verifier);
}
