import type { Clock } from '#src/kernel/index.js';

/** What is remembered of a login under way; kept on the server, never in a cookie. */
export interface LoginSessionRecord {
  state: string;
  /** Present when the login uses PKCE. */
  code_verifier?: string;
  /** Present when an ID token is expected. */
  nonce?: string;
  /** ProviderName of the provider that started the login. */
  provider: string;
  issuer: string;
  redirect_uri?: string;
  /** Milliseconds since 1970. */
  createdAt: number;
}

/**
 * Where logins under way live. `take` answers a record at most once (it deletes it), and nothing after its time;
 * the service keeps them in its database, the library in memory.
 */
export interface LoginSessionStore {
  /** Keeps the record for so many seconds. */
  put(state: string, record: LoginSessionRecord, ttlSeconds: number): Promise<void> | void;
  /** The record of the state, which is gone then; nothing when there is none. */
  take(
    state: string,
  ): Promise<LoginSessionRecord | null | undefined> | LoginSessionRecord | null | undefined;
}

/** Seconds a login may take. */
export const LOGIN_SESSION_SECONDS = 600;
const MAX_LOGINS = 10_000;

/** The store of the library: in memory, bounded (the oldest login gives way), single use. */
export class MemoryLoginSessions implements LoginSessionStore {
  readonly #records = new Map<string, { record: LoginSessionRecord; expiresAt: number }>();

  constructor(private readonly clock: Clock) {}

  /** Keeps the record for so many seconds. */
  put(state: string, record: LoginSessionRecord, ttlSeconds: number): void {
    const oldest = this.#records.keys().next().value;
    if (this.#records.size >= MAX_LOGINS && oldest !== undefined) this.#records.delete(oldest);
    this.#records.set(state, { record, expiresAt: this.clock.now() + ttlSeconds * 1000 });
  }

  /** The record of the state, which is gone then. */
  take(state: string): LoginSessionRecord | undefined {
    const held = this.#records.get(state);
    this.#records.delete(state);
    if (held === undefined || held.expiresAt < this.clock.now()) return undefined;
    return held.record;
  }
}
