/**
 * Renewals under way, one per key: whoever comes while one runs waits for it and shares its outcome
 * (100 requests with an expired token make one refresh).
 */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** Runs the work, or joins the run of the same key. */
  run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const started = work().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }
}
