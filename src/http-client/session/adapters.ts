import { InvalidSchema } from '../message/errors.js';
import type { Adapter } from '../message/types.js';

/** The mounted adapters; the longest prefix of a URL decides, in any case of letters. */
export class AdapterRegistry {
  #mounted: { prefix: string; lower: string; adapter: Adapter }[] = [];

  /** Mounts an adapter; one that was mounted under the same prefix is replaced. */
  mount(prefix: string, adapter: Adapter): void {
    const others = this.#mounted.filter((entry) => entry.prefix !== prefix);
    const at = others.findIndex((entry) => entry.prefix.length < prefix.length);
    const entry = { prefix, lower: prefix.toLowerCase(), adapter };
    others.splice(at < 0 ? others.length : at, 0, entry);
    this.#mounted = others;
  }

  /** The adapter for a URL; throws InvalidSchema when none is mounted for it. */
  find(url: string): Adapter {
    const lower = url.toLowerCase();
    for (const entry of this.#mounted) if (lower.startsWith(entry.lower)) return entry.adapter;
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? 'this kind of URL';
    throw new InvalidSchema(`no adapter is mounted for ${scheme}`);
  }

  /** Prefixes in the order in which they are tried. */
  get prefixes(): string[] {
    return this.#mounted.map((entry) => entry.prefix);
  }

  /** Closes every adapter, each once. */
  async close(): Promise<void> {
    const adapters = new Set(this.#mounted.map((entry) => entry.adapter));
    await Promise.all([...adapters].map(async (adapter) => adapter.close()));
  }
}
