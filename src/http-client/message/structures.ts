import { inspect } from 'node:util';

const ITEMS = Symbol('items');
const SECRET_NAMES = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'dpop',
]);

/** Anything that can be read as names and values. */
export type DictSource<V> =
  CaseInsensitiveDict<V> | Iterable<readonly [string, V]> | Readonly<Record<string, V>>;

/**
 * A dictionary with case-insensitive names that remembers the last spelling and the order of first insertion.
 * Beside the Map-like operations, names work as properties: `headers['content-type']`, `'Accept' in headers`,
 * `delete headers.accept`, `{...headers}`. An operation's name (for example `get`) is reached by `get('get')`.
 */
export class CaseInsensitiveDict<V = string> implements Iterable<[string, V]> {
  readonly [ITEMS] = new Map<string, [string, V]>();

  constructor(source?: DictSource<V> | null) {
    if (source) fill(this[ITEMS], source);
    return new Proxy<CaseInsensitiveDict<V>>(this, propertyAccess<V>());
  }

  /** The value of the name in any case, or undefined. */
  get(name: string): V | undefined {
    return this[ITEMS].get(name.toLowerCase())?.[1];
  }

  /** Sets a value; the spelling given last is kept. */
  set(name: string, value: V): this {
    this[ITEMS].set(name.toLowerCase(), [name, value]);
    return this;
  }

  /** Whether there is an entry of that name, in any case. */
  has(name: string): boolean {
    return this[ITEMS].has(name.toLowerCase());
  }

  /** Removes the name in any case; true when it was there. */
  delete(name: string): boolean {
    return this[ITEMS].delete(name.toLowerCase());
  }

  /** Removes every entry. */
  clear(): void {
    this[ITEMS].clear();
  }

  /** Sets every entry of the source. */
  update(source: DictSource<V>): this {
    fill(this[ITEMS], source);
    return this;
  }

  /** An independent dictionary with the same entries. */
  copy(): CaseInsensitiveDict<V> {
    return new CaseInsensitiveDict<V>(this);
  }

  get size(): number {
    return this[ITEMS].size;
  }

  /** Pairs of name, as it was spelled last, and value. */
  entries(): IterableIterator<[string, V]> {
    return this[ITEMS].values();
  }

  /** Names as they were spelled last. */
  *keys(): IterableIterator<string> {
    for (const [name] of this[ITEMS].values()) yield name;
  }

  /** The values in their order. */
  *values(): IterableIterator<V> {
    for (const [, value] of this[ITEMS].values()) yield value;
  }

  /** Calls back with each value and its name. */
  forEach(callback: (value: V, name: string) => void): void {
    for (const [name, value] of this[ITEMS].values()) callback(value, name);
  }

  /** The same pairs as `entries()`. */
  [Symbol.iterator](): IterableIterator<[string, V]> {
    return this[ITEMS].values();
  }

  /** A plain object with the names as they were spelled last. */
  toJSON(): Record<string, V> {
    return Object.fromEntries(this[ITEMS].values());
  }

  /** For consoles and logs: credentials are not shown. */
  [inspect.custom](): Record<string, unknown> {
    const shown: Record<string, unknown> = {};
    for (const [lower, [name, value]] of this[ITEMS]) {
      shown[name] = SECRET_NAMES.has(lower) ? '***' : value;
    }
    return shown;
  }
}

/** The entries by lower-case name: for this room's own use, without a trip through the proxy for each. */
export function itemsOf<V>(dictionary: CaseInsensitiveDict<V>): Map<string, [string, V]> {
  return dictionary[ITEMS];
}

/** True for a list of pairs or a Map, false for a plain object. */
export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value;
}

function fill<V>(items: Map<string, [string, V]>, source: DictSource<V>): void {
  if (source instanceof CaseInsensitiveDict || isIterable(source)) {
    for (const [name, value] of source as Iterable<readonly [string, V]>) {
      items.set(name.toLowerCase(), [name, value]);
    }
    return;
  }
  for (const name of Object.keys(source)) {
    items.set(name.toLowerCase(), [name, (source as Record<string, V>)[name] as V]);
  }
}

/** Names that are no operation of the class are entries. */
const PROPERTY_ACCESS: ProxyHandler<CaseInsensitiveDict<unknown>> = {
  get: (target, key) => {
    const member: unknown = Reflect.get(target, key, target);
    return member === undefined && typeof key === 'string' ? target.get(key) : member;
  },
  set: (target, key, value: unknown) => {
    if (typeof key === 'string' && !(key in target)) {
      target.set(key, value);
      return true;
    }
    return Reflect.set(target, key, value, target);
  },
  has: (target, key) => key in target || (typeof key === 'string' && target.has(key)),
  deleteProperty: (target, key) => {
    if (typeof key === 'string') target.delete(key);
    return true;
  },
  ownKeys: (target) => [...target.keys()],
  getOwnPropertyDescriptor: (target, key) =>
    typeof key === 'string' && target.has(key)
      ? { value: target.get(key), writable: true, enumerable: true, configurable: true }
      : undefined,
};

/** The handler looks at no value, so one serves dictionaries of every kind. */
function propertyAccess<V>(): ProxyHandler<CaseInsensitiveDict<V>> {
  return PROPERTY_ACCESS;
}
