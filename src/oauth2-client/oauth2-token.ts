import { systemClock, type Clock } from '#src/kernel/index.js';
import { ConfigurationError } from './oauth-error.js';

/** A token as data: the members of a token response (RFC 6749 §5.1), unknown ones included. */
export interface TokenFields {
  [field: string]: unknown;
  access_token?: string | undefined;
  token_type?: string | undefined;
  refresh_token?: string | undefined;
  scope?: string | undefined;
  id_token?: string | undefined;
  /** Lifetime in seconds. */
  expires_in?: number | string | null | undefined;
  /** Seconds since 1970. */
  expires_at?: number | string | null | undefined;
}

/** What a token object may be told: the clock, and when the request for the token was sent (milliseconds). */
export interface TokenOptions {
  clock?: Clock | undefined;
  sentAt?: number | undefined;
}

/** Leeway of the session constructor in seconds (interface "Limits"). */
export const DEFAULT_LEEWAY = 60;

const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;
/** A server must not replace the object's own operations with data. */
const RESERVED = new Set(['__proto__', 'constructor', 'is_expired', 'toJSON', 'then']);

/** Later times since 1970 are no seconds (the year 5138): whoever writes them means milliseconds. */
const LATEST_SECONDS = 1e11;

/** Seconds from a number or a numeric string ≥ 0; undefined when absent, null when it is no such thing. */
function secondsOf(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' && DECIMAL.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0) return null;
  return Math.trunc(number);
}

/**
 * A moment in seconds since 1970. `expires_at` is no member of RFC 6749: what is no such number (a date, milliseconds) is
 * left out, not refused and not guessed at.
 */
function momentOf(value: unknown): number | undefined {
  const seconds = secondsOf(value) ?? undefined;
  return seconds !== undefined && seconds < LATEST_SECONDS ? seconds : undefined;
}

/**
 * A token: dict-like (every member of the response is a property), with `expires_at` in seconds since 1970
 * computed from `expires_in` and the time the request was sent. The dictionary handed in is not changed.
 * An `expires_at` in another notation is left out; without `expires_in` the expiry is then unknown. Throws
 * ConfigurationError when the only expiry is an `expires_in` that is no number ≥ 0.
 */
export class OAuth2Token implements TokenFields {
  [field: string]: unknown;
  declare access_token?: string;
  declare token_type?: string;
  declare refresh_token?: string;
  declare scope?: string;
  declare id_token?: string;
  declare expires_in?: number | string | null;
  declare expires_at?: number;
  readonly #clock: Clock;
  readonly #lifetime: number | undefined;

  constructor(fields: Readonly<TokenFields>, options: TokenOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    for (const [name, value] of Object.entries(fields)) {
      if (!RESERVED.has(name)) this[name] = value;
    }
    const lifetime = secondsOf(fields.expires_in);
    const expiresAt = momentOf(fields.expires_at);
    this.#lifetime = lifetime ?? undefined;
    delete this.expires_at;
    if (expiresAt !== undefined) {
      this.expires_at = expiresAt;
    } else if (typeof lifetime === 'number') {
      const sentAt = options.sentAt ?? this.#clock.now();
      this.expires_at = Math.floor(sentAt / 1000) + lifetime;
    } else if (lifetime === null) {
      throw new ConfigurationError('expires_in of the token is not a number of seconds');
    }
  }

  /**
   * Whether the token is expired, seen `leeway` seconds early (at most half of a known lifetime); null when its
   * expiry is unknown. Exactly at the threshold it is not yet expired; a lifetime of 0 is always expired.
   */
  is_expired(leeway: number = DEFAULT_LEEWAY): boolean | null {
    const expiresAt = this.expires_at;
    if (expiresAt === undefined) return null;
    if (this.#lifetime === 0) return true;
    const early = this.#lifetime === undefined ? leeway : Math.min(leeway, this.#lifetime / 2);
    return expiresAt - early < this.#clock.now() / 1000;
  }
}
