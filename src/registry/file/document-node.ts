import { canonicalDn } from '#src/x509/index.js';
import { isJsonObject, type JsonObject } from '#src/kernel/index.js';
import type { RegistryFault } from '../model/registry-rules.js';

const NAME = /^[^\s/,\p{Cc}]{1,128}$/u;

/**
 * One value of a registry file with its path. Readers check the value's kind; a fault is noted with the path and
 * a harmless value is answered, so that one reading finds every fault.
 */
export class DocumentNode {
  constructor(
    private readonly value: unknown,
    readonly path: (string | number)[],
    private readonly faults: RegistryFault[],
  ) {}

  /** True when the file says something here. */
  get isGiven(): boolean {
    return this.value !== undefined;
  }

  /** True when a map stands here. */
  get isMap(): boolean {
    return isJsonObject(this.value);
  }

  fault(problem: string): void {
    this.faults.push({ path: this.path, problem });
  }

  /** The members of an object that may hold these keys only; an empty value counts as an empty object. */
  members<K extends string>(keys: readonly K[]): Record<K, DocumentNode> {
    const object = this.object();
    for (const key of Object.keys(object)) {
      if (!(keys as readonly string[]).includes(key)) {
        this.at(key).fault(`is not known here; known are ${keys.join(', ')}`);
      }
    }
    return Object.fromEntries(keys.map((key) => [key, this.at(key)])) as Record<K, DocumentNode>;
  }

  /** Named items of a section, a map from name to item: first those of `order`, since an object has its whole numbers first. */
  items(order: readonly string[] = []): [string, DocumentNode][] {
    const object = this.object();
    const names = order.filter((name) => Object.hasOwn(object, name));
    return [...new Set([...names, ...Object.keys(object)])].map((name) => {
      const place = this.at(name);
      if (!NAME.test(name)) {
        place.fault('is no name: 1 to 128 characters without blank, slash or comma');
      }
      return [name, place];
    });
  }

  /** The elements of a list; none when absent. */
  elements(): DocumentNode[] {
    if (this.value === undefined || this.value === null) return [];
    if (!Array.isArray(this.value)) {
      this.fault('must be a list');
      return [];
    }
    return this.value.map(
      (item, place) => new DocumentNode(item, [...this.path, place], this.faults),
    );
  }

  /** Text that is not empty. */
  text(): string {
    if (typeof this.value === 'string' && this.value.trim() !== '') return this.value;
    this.fault(this.value === undefined ? 'is missing' : 'must be text (put it in quotes)');
    return '';
  }

  optionalText(): string | undefined {
    return this.isGiven ? this.text() : undefined;
  }

  texts(): string[] {
    return this.elements().map((element) => element.text());
  }

  /** A DN in any usual spelling, as its canonical form. */
  dn(): string {
    const text = this.text();
    if (text === '') return text;
    try {
      return canonicalDn(text);
    } catch (error) {
      this.fault(`is not a distinguished name: ${(error as Error).message}`);
      return text;
    }
  }

  flag(fallback: boolean): boolean {
    if (this.value === undefined) return fallback;
    if (typeof this.value === 'boolean') return this.value;
    this.fault('must be true or false');
    return fallback;
  }

  optionalCount({ min = 1, max = 1_000_000 } = {}): number | undefined {
    if (this.value === undefined) return undefined;
    const count = this.value;
    if (typeof count === 'number' && Number.isInteger(count) && count >= min && count <= max) {
      return count;
    }
    this.fault(`must be a whole number from ${min} to ${max}`);
    return undefined;
  }

  /** One of the words; the first one stands in for a wrong one. */
  oneOf<T extends string>(words: readonly [T, ...T[]]): T {
    const found = words.find((word) => word === this.value);
    if (found === undefined) this.fault(`must be one of ${words.join(', ')}`);
    return found ?? words[0];
  }

  /** An object of any members, for example the options of a backend. */
  anyObject(): JsonObject {
    return this.object();
  }

  private object(): JsonObject {
    if (this.value === undefined || this.value === null) return {};
    if (isJsonObject(this.value)) return this.value;
    this.fault('must be a map of names');
    return {};
  }

  private at(key: string): DocumentNode {
    const isOwn = isJsonObject(this.value) && Object.hasOwn(this.value, key);
    const value = isOwn ? this.value[key] : undefined;
    return new DocumentNode(value, [...this.path, key], this.faults);
  }
}
