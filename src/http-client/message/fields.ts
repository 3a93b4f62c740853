import { isIterable } from './structures.js';
import type { FieldMap, FieldPairs, FieldValue, Params } from './types.js';

const SUB_DELIMITERS = /[!'()*]/g;

/** Encodes names and values as application/x-www-form-urlencoded; lists repeat the name, null leaves it out. */
export function encodeFields(fields: FieldMap | FieldPairs | URLSearchParams): string {
  const parts: string[] = [];
  for (const [name, value] of fieldPairs(fields)) parts.push(`${encode(name)}=${encode(value)}`);
  return parts.join('&');
}

/** Every single name and value, as text and in order. Throws TypeError for what is no text, number or boolean. */
export function* fieldPairs(
  fields: FieldMap | FieldPairs | URLSearchParams,
): Generator<[string, string]> {
  const entries: Iterable<unknown> = isIterable(fields) ? fields : Object.entries(fields);
  for (const entry of entries) {
    if (!isPair(entry)) throw new TypeError('a field is no pair of a name and a value');
    const [name, value] = entry;
    for (const single of isList(value) ? value : [value]) {
      if (single !== null && single !== undefined) yield [name, textOf(name, single)];
    }
  }
}

function isPair(entry: unknown): entry is [string, FieldValue | readonly FieldValue[]] {
  return Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string';
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (['number', 'bigint', 'boolean'].includes(typeof value)) return String(value);
  throw new TypeError(`the value of field "${name}" is neither text nor number nor boolean`);
}

/** The query of a request: two maps merge per key with the request's winning, anything else replaces. */
export function mergeParams(
  request: Params | null | undefined,
  session: Params | null | undefined,
): Params | null {
  if (request === null || request === undefined) return session ?? null;
  if (!session || !isFieldMap(request) || !isFieldMap(session)) return request;
  return { ...session, ...request };
}

/** The query string for a URL, '' for none. */
export function encodeParams(params: Params | null): string {
  if (params === null) return '';
  return typeof params === 'string' ? params.replace(/^\?/, '') : encodeFields(params);
}

/** True for a plain map of fields. */
export function isFieldMap(value: unknown): value is FieldMap {
  return typeof value === 'object' && value !== null && !isIterable(value);
}

function isList(value: FieldValue | readonly FieldValue[]): value is readonly FieldValue[] {
  return Array.isArray(value);
}

function encode(text: string): string {
  return percentEncode(text)
    .replace(SUB_DELIMITERS, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%20/g, '+');
}

/** Lone surrogates cannot be encoded; they become U+FFFD, as in every URL parser. */
function percentEncode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
  }
}
