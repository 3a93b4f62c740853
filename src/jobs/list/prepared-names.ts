/** Each connection keeps a prepared statement as long as it lives. */
const MOST_PREPARED = 32;

/**
 * Names for statements whose texts are put together, so that they are planned once per connection: the first texts, which
 * are those that pages ask all the time, get one; further ones none. Only for statements whose best plan does not depend on values.
 */
export class PreparedNames {
  private readonly names = new Map<string, string>();

  constructor(private readonly prefix: string) {}

  /** The name of the text, undefined when too many have one. */
  of(text: string): { name: string } | undefined {
    const known = this.names.get(text);
    if (known !== undefined) return { name: known };
    if (this.names.size >= MOST_PREPARED) return undefined;
    const name = `${this.prefix}-${this.names.size}`;
    this.names.set(text, name);
    return { name };
  }
}
