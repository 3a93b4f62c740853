import { isPlainObject } from './arguments.js';
import { isFieldMap } from './fields.js';
import { isIterable } from './structures.js';
import type { BodyStream, Data, FieldMap, FieldPairs, PreparedBody } from './types.js';

/** An encoded body and the Content-Type it needs, null for none. */
export interface EncodedBody {
  body: PreparedBody;
  contentType: string | null;
}

/** True for data that is sent as form fields: lists of pairs, maps, and objects that have members. */
export function isForm(data: Data): data is FieldMap | FieldPairs | URLSearchParams {
  if (data instanceof URLSearchParams || data instanceof Map || Array.isArray(data)) return true;
  if (!isFieldMap(data) || isBytes(data) || isStream(data)) return false;
  return isPlainObject(data) || Object.keys(data).length > 0;
}

/** True for bodies that are produced piece by piece. */
export function isStream(body: unknown): body is BodyStream {
  if (typeof body !== 'object' || body === null) return false;
  if (ArrayBuffer.isView(body) || Array.isArray(body) || body instanceof FormData) return false;
  return Symbol.asyncIterator in body || isIterable(body);
}

function isBytes(data: unknown): boolean {
  return ArrayBuffer.isView(data) || data instanceof ArrayBuffer || data instanceof Blob;
}
