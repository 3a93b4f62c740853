import type { Clock } from '#src/kernel/index.js';
import {
  InvalidResponseError,
  parseObject,
  type HttpCallOptions,
} from '#src/oauth2-client/index.js';
import { ageClockOf, CachedDocument, type FetchedDocument } from './cached-document.js';
import { JWKS_REFRESH_RATE } from './constants.js';
import { KeySet, type JsonWebKeySet } from './key-set.js';
import type { CallProtocol } from './metadata.js';
import type { KeySource, RotationSign } from './token-verifier.js';

/** What the keys of a provider depend on. */
export interface JwksSource {
  /** Where the keys are (`jwks_uri`); rejects when that is not known. */
  uri(): Promise<string>;
  /** Keys to use while none can be fetched. */
  fallback: JsonWebKeySet | undefined;
  call: CallProtocol;
  clock: Clock;
}

/** Largest key set in bytes. */
const MAX_JWKS_BYTES = 256 * 1024;
/** A token may make us ask again, but not more often than this: anybody can invent key ids and signatures. */
const COOL_DOWN_SECONDS = 30;

/**
 * The keys of one provider: fetched when needed, once a day, and when a token names an unknown key or is not signed by
 * the one it names. Old keys serve on while the provider cannot be reached.
 */
export class ProviderKeys implements KeySource {
  readonly document: CachedDocument<KeySet>;
  readonly #fallback: KeySet | null;
  readonly #clock: Clock;
  #askedAt = -Infinity;
  #http: HttpCallOptions = {};

  constructor(private readonly source: JwksSource) {
    this.#fallback = KeySet.from(source.fallback) ?? null;
    this.#clock = ageClockOf(source.clock);
    this.document = new CachedDocument({
      fetch: () => this.fetch(),
      refreshSeconds: JWKS_REFRESH_RATE,
      clock: source.clock,
    });
  }

  /** The keys at hand, fetched when they are too old; null when there are none. */
  current(): KeySet | null | Promise<KeySet | null> {
    return this.document.fresh() ?? this.document.current().then((set) => set ?? this.#fallback);
  }

  /**
   * Newer keys than those tried: another token's fetch has brought them, or one is made. After an unknown key id the last
   * fetch, after a wrong signature the last one that a token asked for or that failed, must be 30 s old: a key may be
   * replaced just after it was fetched.
   */
  async newer(tried: KeySet | null, sign: RotationSign): Promise<KeySet | null> {
    const { document } = this;
    const atHand = document.fresh();
    if (atHand !== undefined && atHand !== tried) return atHand;
    if (document.pending === undefined && this.coolsDown(sign)) return null;
    this.#askedAt = this.#clock.now();
    try {
      return await (document.pending ?? document.refresh());
    } catch {
      return null;
    }
  }

  private coolsDown(sign: RotationSign): boolean {
    const { document } = this;
    const wasAsked = this.#clock.now() - this.#askedAt < COOL_DOWN_SECONDS * 1000;
    if (wasAsked) return true;
    const hasFailed = document.lastError !== undefined;
    return (hasFailed || sign === 'unknown key') && document.attemptedWithin(COOL_DOWN_SECONDS);
  }

  /** Fetches now; rejects when that fails. */
  refresh(http: HttpCallOptions = {}): Promise<KeySet> {
    this.#http = http;
    return this.document.refresh().finally(() => {
      this.#http = {};
    });
  }

  private async fetch(): Promise<FetchedDocument<KeySet>> {
    const answer = await this.source.call({
      endpoint: 'JWKS endpoint',
      method: 'GET',
      url: await this.source.uri(),
      headers: { Accept: 'application/jwk-set+json, application/json' },
      http: this.#http,
      dpop: false,
      maxBytes: MAX_JWKS_BYTES,
    });
    const value = KeySet.from(parseObject(answer));
    if (value === undefined) throw new InvalidResponseError('the JWKS endpoint answers no key set');
    return { value };
  }
}

/** The keys of a set that the caller brought: nothing newer is looked for. */
export function fixedKeys(set: KeySet | null): KeySource {
  return { current: () => set, newer: () => null };
}
