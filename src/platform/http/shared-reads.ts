/**
 * Equal questions that come together are asked once: all that are put in one turn of the event loop, before anything of it is
 * sent. An answer is never older than the question for it, and is read only, since others have it too.
 */
export class SharedReads<Answer> {
  private readonly coming = new Map<string, Promise<Answer>>();

  /** The answer to the question that the key stands for. */
  get(key: string, ask: () => Promise<Answer>): Promise<Answer> {
    const known = this.coming.get(key);
    if (known) return known;
    const answer = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.coming.delete(key);
      return ask();
    });
    this.coming.set(key, answer);
    return answer;
  }
}
