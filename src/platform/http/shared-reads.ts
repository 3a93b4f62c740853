/** A question that is about to be sent. */
interface Coming<Answer> {
  /** Resolves when it may be sent. */
  begun: Promise<void>;
  answer: Promise<Answer>;
}

/**
 * Equal questions that come together are asked once: all that are put before the first of them is sent. An answer is never older than
 * the question for it, and is read only, since others have it too.
 */
export class SharedReads<Answer> {
  private readonly coming = new Map<string, Coming<Answer>>();

  /**
   * The answer to the question that the key stands for. `takeTurn` is called by the first asker only: others who ask while it waits for
   * its turn have the answer without one of their own. When the turn does not come, the next of them asks.
   */
  get(
    key: string,
    ask: () => Promise<Answer>,
    takeTurn: () => Promise<void> = () => Promise.resolve(),
  ): Promise<Answer> {
    const known = this.coming.get(key);
    if (known) {
      return known.begun.then(
        () => known.answer,
        () => this.get(key, ask, takeTurn),
      );
    }
    const begun = new Promise<void>((resolve) => setImmediate(resolve))
      .then(takeTurn)
      .finally(() => this.coming.delete(key));
    const answer = begun.then(ask);
    this.coming.set(key, { begun, answer });
    return answer;
  }
}
