import { createHmac } from 'node:crypto';
import type { ConsentEntity } from './consent.entity.js';
import type { RefreshTokenEntity } from './refresh-token.entity.js';

/**
 * What a refresh token that is shown now is worth (RFC 9700 §4.14): `first` gives a successor, `again` within the grace
 * the same one, so that parallel renewals never log anybody out; `replayed` means that two hold it, and costs the family.
 */
export type Showing = 'first' | 'again' | 'replayed' | 'refused';

/** Judges a token of a consent as both are stored; `graceSeconds` counts from its first use. */
export function judge(
  stored: RefreshTokenEntity | undefined,
  consent: ConsentEntity | undefined,
  { now, graceSeconds }: { now: number; graceSeconds: number },
): Showing {
  if (!stored || !consent || consent.revokedAt || stored.expiresAt.getTime() <= now) {
    return 'refused';
  }
  if (!stored.usedAt) return 'first';
  return now < stored.usedAt.getTime() + graceSeconds * 1000 ? 'again' : 'replayed';
}

/**
 * The successor of a token. Only hashes are stored, and yet the same successor must be given again: it is made from the
 * used token, which the caller brings, and a seed, which the database keeps. Either alone is worth nothing.
 */
export function successorOf(token: string, seed: string): string {
  return createHmac('sha256', seed).update(token).digest('base64url');
}

/**
 * The DPoP key to which refresh tokens are bound, null when they are not: those of a confidential application are bound to
 * the application itself (RFC 9449 §5).
 */
export function boundKey(
  { confidential }: { confidential: boolean },
  key: string | undefined,
): string | null {
  return confidential ? null : (key ?? null);
}
