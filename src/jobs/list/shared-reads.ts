import type { Database } from '#src/database/index.js';

/** A question that is about to be sent. */
interface Coming<Answer> {
  /** Resolves when it may be sent. */
  begun: Promise<unknown>;
  answer: Promise<Answer>;
}

/**
 * Equal questions that come together are asked once: all that are put before the first of them is sent. An answer is never older than
 * the question for it, and is read only, since others have it too.
 */
export class SharedReads<Answer> {
  private readonly coming = new Map<string, Coming<Answer>>();

  constructor(private readonly permits: Pick<Database['permits'], 'acquireOfCaller'>) {}

  /**
   * The answer to the question that the key stands for, asked with a permit of the first asker: others who ask while it waits for
   * its permit have the answer without one of their own. When it gets none, the next of them asks.
   */
  get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.coming.get(key);
    if (known) {
      return known.begun.then(
        () => known.answer,
        () => this.get(key, ask),
      );
    }
    const begun = new Promise((resolve) => setImmediate(resolve))
      .then(() => this.permits.acquireOfCaller())
      .finally(() => this.coming.delete(key));
    const answer = begun.then((release) => ask().finally(release));
    this.coming.set(key, { begun, answer });
    return answer;
  }
}
