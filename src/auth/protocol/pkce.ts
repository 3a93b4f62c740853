import { createHash } from 'node:crypto';
import { constantTimeEqual } from '#src/kernel/index.js';

const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** True for text that can be an S256 challenge (RFC 7636 §4.2). */
export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

/** True when the verifier is well-formed and belongs to the S256 challenge (RFC 7636 §4.6). */
export function matchesChallenge(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  const hash = createHash('sha256').update(verifier).digest('base64url');
  return constantTimeEqual(hash, challenge);
}
