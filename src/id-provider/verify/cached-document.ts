import { systemClock, type Clock } from '#src/kernel/index.js';

/** What a fetch of a document brings; `unchanged` when the server says that the copy still holds. */
export interface FetchedDocument<T> {
  value?: T;
  unchanged?: boolean;
  etag?: string | undefined;
  /** Seconds for which the server lets the document be kept. */
  maxAgeSeconds?: number | undefined;
}

/** How a document is fetched and how long it holds. */
export interface CachedDocumentOptions<T> {
  /** Fetches the document; gets the ETag of the copy at hand. Rejects when there is none to be had. */
  fetch(etag: string | undefined): Promise<FetchedDocument<T>>;
  /** Seconds after which the document is fetched again. */
  refreshSeconds: number;
  clock: Clock;
}

/** Seconds for which an old copy is better than none. */
const STALE_SECONDS = 7 * 86400;
const FIRST_BACK_OFF_SECONDS = 1;
const LAST_BACK_OFF_SECONDS = 300;
const MIN_AGE_SECONDS = 60;

/** Ages are measured by a clock that nobody sets, unless the caller brought an own one. */
export function ageClockOf(clock: Clock): Clock {
  return clock === systemClock ? { now: () => performance.now() } : clock;
}

/**
 * A document of a provider: fetched when it is needed and too old, by one fetch at a time. After a failure the
 * old copy serves on (up to 7 days) and attempts are spaced 1 s to 5 min apart.
 */
export class CachedDocument<T> {
  readonly #options: CachedDocumentOptions<T>;
  readonly #clock: Clock;
  #value: T | undefined;
  #etag: string | undefined;
  #fetchedAt = 0;
  #freshSeconds = 0;
  #attemptedAt: number | undefined;
  #failures = 0;
  #inFlight: Promise<T> | undefined;
  #error: unknown;

  constructor(options: CachedDocumentOptions<T>) {
    this.#options = options;
    this.#clock = ageClockOf(options.clock);
  }

  /** Why the last attempt failed; undefined after a success. */
  get lastError(): unknown {
    return this.#error;
  }

  /** The copy at hand if it is fresh; the way without waiting. */
  fresh(): T | undefined {
    if (this.#value === undefined) return undefined;
    return this.#secondsSince(this.#fetchedAt) < this.#freshSeconds ? this.#value : undefined;
  }

  /** The document, fetched when it is too old; an old copy when that fails; undefined when there is none. */
  async current(): Promise<T | undefined> {
    const fresh = this.fresh();
    if (fresh !== undefined) return fresh;
    if (this.#inFlight === undefined && this.#backsOff()) return this.#stale();
    try {
      return await this.refresh();
    } catch {
      return this.#stale();
    }
  }

  /** Fetches now (or joins the fetch under way); rejects when it fails and keeps the old copy. */
  refresh(): Promise<T> {
    this.#inFlight ??= this.#load().finally(() => {
      this.#inFlight = undefined;
    });
    return this.#inFlight;
  }

  /** True when the last attempt, successful or not, is less than `seconds` old or still under way. */
  attemptedWithin(seconds: number): boolean {
    return this.#attemptedAt !== undefined && this.#secondsSince(this.#attemptedAt) < seconds;
  }

  /** The fetch under way, if any. */
  get pending(): Promise<T> | undefined {
    return this.#inFlight;
  }

  async #load(): Promise<T> {
    this.#attemptedAt = this.#clock.now();
    try {
      const document = await this.#options.fetch(
        this.#value === undefined ? undefined : this.#etag,
      );
      return this.#keep(document);
    } catch (error) {
      this.#failures += 1;
      this.#error = error;
      throw error;
    } finally {
      this.#attemptedAt = this.#clock.now();
    }
  }

  #keep(document: FetchedDocument<T>): T {
    const value = document.unchanged === true ? this.#value : document.value;
    if (value === undefined) throw new Error('the server says "unchanged" about nothing');
    if (document.unchanged !== true) this.#etag = document.etag;
    const { refreshSeconds } = this.#options;
    const allowed = document.maxAgeSeconds ?? refreshSeconds;
    this.#freshSeconds = Math.min(Math.max(allowed, MIN_AGE_SECONDS), refreshSeconds);
    this.#value = value;
    this.#fetchedAt = this.#clock.now();
    this.#failures = 0;
    this.#error = undefined;
    return value;
  }

  #backsOff(): boolean {
    if (this.#failures === 0) return false;
    const wait = Math.min(
      FIRST_BACK_OFF_SECONDS * 2 ** (this.#failures - 1),
      LAST_BACK_OFF_SECONDS,
    );
    return this.attemptedWithin(wait);
  }

  #stale(): T | undefined {
    if (this.#value === undefined) return undefined;
    return this.#secondsSince(this.#fetchedAt) < STALE_SECONDS ? this.#value : undefined;
  }

  #secondsSince(milliseconds: number): number {
    return (this.#clock.now() - milliseconds) / 1000;
  }
}
