import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { Request, Response } from 'express';
import { AddressList, Problem, type Violation } from '#src/kernel/index.js';
import { redact } from '#src/runtime/index.js';

/** A request as controllers and guards see it. */
export type HttpRequest = Request;
/** A response under way. */
export type HttpResponse = Response;

const REQUEST_ID = Symbol('request id');
const REQUEST_ADDRESS = Symbol('address of the client');
const REQUEST_LABELS = Symbol('labels of the request');
const IS_OF_OWN_WORKER = Symbol('of the own worker');

/** Longest path in the log: an ordinary one is shown whole, one of 30 kB tells no more than its beginning. */
const LONGEST_PATH = 256;

interface Marked {
  [IS_OF_OWN_WORKER]?: true;
  [REQUEST_ID]?: string;
  [REQUEST_ADDRESS]?: string;
  [REQUEST_LABELS]?: Record<string, string>;
}

/** The id that the answer carries as X-Request-Id and problem bodies as `instance`. */
export function requestIdOf(request: IncomingMessage): string {
  return (request as Marked)[REQUEST_ID] ?? '';
}

/** Gives the request its id. */
export function setRequestId(request: IncomingMessage, id: string): void {
  (request as Marked)[REQUEST_ID] = id;
}

/** Where the request comes from, as far as trusted proxies are believed; also when the connection is gone. */
export function clientAddressOf(request: IncomingMessage): string {
  return (request as Marked)[REQUEST_ADDRESS] ?? '';
}

/** True of what came over the Unix socket that only the service's own worker may open. */
export function isOfOwnWorker(request: IncomingMessage): boolean {
  return (request as Marked)[IS_OF_OWN_WORKER] === true;
}

/** Says that it came there. */
export function markOfOwnWorker(request: IncomingMessage): void {
  (request as Marked)[IS_OF_OWN_WORKER] = true;
}

/** Says where the request comes from. */
export function setClientAddress(request: IncomingMessage, address: string): void {
  (request as Marked)[REQUEST_ADDRESS] = address;
}

/** Words for the log line of the request, for example the user and group. Never secrets. */
export function labelRequest(request: IncomingMessage, labels: Record<string, string>): void {
  const marked = request as Marked;
  marked[REQUEST_LABELS] = { ...marked[REQUEST_LABELS], ...labels };
}

/** The words given so far. */
export function labelsOf(request: IncomingMessage): Record<string, string> {
  return (request as Marked)[REQUEST_LABELS] ?? {};
}

/**
 * The path for logs: without the query, which may carry a token, and no longer than anybody reads. A long one is redacted
 * before it is cut: of half a token nobody could tell that it is one.
 */
export function shownPath({ originalUrl }: Pick<HttpRequest, 'originalUrl'>): string {
  const query = originalUrl.indexOf('?');
  const length = query < 0 ? originalUrl.length : query;
  if (length <= LONGEST_PATH) return originalUrl.slice(0, length);
  const shown = redact(originalUrl.slice(0, length));
  if (shown.length <= LONGEST_PATH) return shown;
  return `${shown.slice(0, LONGEST_PATH)}… (${length} characters)`;
}

/**
 * Where a request comes from: the peer's address, or what a trusted proxy says in `X-Forwarded-For` (the last
 * address of the list that is not a trusted proxy itself). From any other address the header is ignored.
 */
export class ClientAddresses {
  private readonly trusted: AddressList;

  constructor(trustedProxies: readonly string[]) {
    this.trusted = AddressList.parse(trustedProxies);
  }

  /** The client's address; '' when the connection is gone. */
  addressOf(request: IncomingMessage): string {
    const peer = request.socket.remoteAddress ?? '';
    if (this.trusted.size === 0 || !this.trusted.contains(peer)) return peer;
    const header = request.headers['x-forwarded-for'];
    const hops = String(header ?? '')
      .split(',')
      .map((hop) => hop.trim());
    for (const hop of hops.reverse()) {
      if (isIP(hop) === 0) return peer;
      if (!this.trusted.contains(hop)) return hop;
    }
    return peer;
  }
}

const PARSED = Symbol('query values');
const TRUE_WORDS = new Set(['true', '1', 'yes', '']);
/** Most values of one query or form: a MiB of a form has up to a million, which took 137 ms to read. */
const MAX_PAIRS = 20_000;
const MOST_NAMED = 100;
const FALSE_WORDS = new Set(['false', '0', 'no']);

/** Bounds of a whole number in a query; `clamp` turns values above max into max instead of refusing them. */
export interface IntegerRule {
  min: number;
  max?: number;
  clamp?: boolean;
}

/**
 * A query string as a plain multi-map: no nested objects, no arrays by name. Readers refuse repeated
 * single values and bad spellings with 400 naming the key. Keys are case-sensitive.
 */
export class QueryValues {
  private readonly map = new Map<string, string[]>();

  /** Throws Problem 413 for more than 20,000 values, 400 for a NUL character. */
  constructor(search: string) {
    refuseMany(search);
    for (const [key, value] of new URLSearchParams(search)) {
      if (key.includes('\0') || value.includes('\0')) {
        throw Problem.invalidField(key.replaceAll('\0', '?'), 'contains a NUL character');
      }
      const known = this.map.get(key);
      if (known) known.push(value);
      else this.map.set(key, [value]);
    }
  }

  /** The keys in the order of their first appearance. */
  keys(): string[] {
    return [...this.map.keys()];
  }

  has(key: string): boolean {
    return this.map.has(key);
  }

  /** All values of the key; empty when absent. */
  all(key: string): string[] {
    return this.map.get(key) ?? [];
  }

  /** The value of a key that may stand once; undefined when absent. */
  single(key: string): string | undefined {
    const values = this.all(key);
    if (values.length > 1) throw Problem.invalidField(key, 'may be given only once');
    return values[0];
  }

  /** true/1/yes/empty or false/0/no, in any case; the fallback when absent. */
  boolean(key: string, fallback = false): boolean {
    const value = this.single(key)?.toLowerCase();
    if (value === undefined) return fallback;
    if (TRUE_WORDS.has(value)) return true;
    if (FALSE_WORDS.has(value)) return false;
    throw Problem.invalidField(key, 'is not one of true, false, 1, 0, yes, no');
  }

  /** A whole number; the fallback when absent. */
  integer<T extends number | undefined>(key: string, fallback: T, rule: IntegerRule): number | T {
    const value = this.single(key);
    if (value === undefined) return fallback;
    if (!/^-?\d+$/.test(value)) throw Problem.invalidField(key, 'is not a whole number');
    const number = Number(value); // only far beyond the bounds is it not exact
    const { min, max = Number.MAX_SAFE_INTEGER, clamp } = rule;
    if (number < min) throw Problem.invalidField(key, `must be at least ${min}`);
    if (number <= max) return number;
    if (clamp) return max;
    throw Problem.invalidField(key, `must be at most ${max}`);
  }

  /** Adds the values of another one. */
  add(other: QueryValues): void {
    for (const key of other.keys()) this.map.set(key, [...this.all(key), ...other.all(key)]);
  }

  /** The values that pass, and those that do not. */
  split(isWanted: (key: string, value: string) => boolean): [QueryValues, QueryValues] {
    const [wanted, others] = [new QueryValues(''), new QueryValues('')];
    for (const [key, values] of this.map) {
      for (const value of values) {
        const { map } = isWanted(key, value) ? wanted : others;
        const known = map.get(key);
        if (known) known.push(value);
        else map.set(key, [value]);
      }
    }
    return [wanted, others];
  }
}

function refuseMany(search: string): void {
  let pairs = 0;
  for (let at = search.indexOf('&'); at >= 0; at = search.indexOf('&', at + 1)) pairs += 1;
  if (pairs < MAX_PAIRS) return;
  throw new Problem('request.too-large', `More than ${MAX_PAIRS} values were sent`, {
    members: { limit: MAX_PAIRS },
  });
}

/** 400 that names the unknown keys; `kind` is what they are, a `hint` says more. */
export function unknownParameters(
  keys: string[],
  { kind = 'query parameter', hint }: { kind?: string; hint?: string | undefined } = {},
): Problem {
  const violations: Violation[] = keys.map((field) => ({ field, problem: 'is not known here' }));
  const named = keys.slice(0, MOST_NAMED).join(', ');
  const detail = `Unknown ${kind}: ${named}${hint === undefined ? '' : ` (${hint})`}`;
  return new Problem('request.unknown-parameter', detail, { violations });
}

/** The query of a request, parsed once. Throws Problem 400 for a NUL character. */
export function queryValuesOf(request: IncomingMessage): QueryValues {
  const marked = request as IncomingMessage & { [PARSED]?: QueryValues; originalUrl?: string };
  const target = marked.originalUrl ?? request.url ?? '';
  const mark = target.indexOf('?');
  return (marked[PARSED] ??= new QueryValues(mark < 0 ? '' : target.slice(mark + 1)));
}

/** Lets everything that comes after see these values in place of the query of the request. */
export function setQueryValues(request: IncomingMessage, values: QueryValues): void {
  (request as IncomingMessage & { [PARSED]?: QueryValues })[PARSED] = values;
}
