import { stringifyJson } from '#src/kernel/json.js';

/** Metadata conditions: field name → `operation|value`, or several of them that all apply. */
export type Conditions = Record<string, string | string[]>;

/** The text of a body that is no JSON document, for example lines of NDJSON. */
export type BodyText = string | Blob | ArrayBuffer;

/** What every call may carry. */
export interface CallOptions {
  /** Ends the call early. */
  signal?: AbortSignal;
  /** Further headers, for example `Idempotency-Key`. */
  headers?: Record<string, string>;
}

/** One call of an operation, before it is made. */
export interface OperationRequest {
  method: string;
  path: string;
  query?: object;
  body?: unknown;
  /** Media type of the body. */
  type?: string;
  answer: 'json' | 'blob' | 'nothing';
}

/** A value as part of a path. Slashes stay: names of files in a sandbox may have folders. */
export function pathPart(value: string | number): string {
  return String(value).split('/').map(encodeURIComponent).join('/');
}

/** A query object as query text: lists are repeated keys, `conditions` are keys of their own, undefined is left out. */
export function queryText(query: object): string {
  const { conditions, ...rest } = query as Record<string, unknown> & { conditions?: Conditions };
  const pairs = new URLSearchParams();
  for (const [name, value] of [...Object.entries(rest), ...Object.entries(conditions ?? {})]) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one !== undefined && one !== null) pairs.append(name, textOf(one));
    }
  }
  const text = pairs.toString();
  return text === '' ? '' : `?${text}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
