import { stringifyJson } from '#src/kernel/index.js';
import { InvalidJSONError } from './errors.js';
import { encodeFields, isFieldMap } from './fields.js';
import { encodeMultipart } from './multipart.js';
import { isIterable } from './structures.js';
import type {
  BodyStream,
  Data,
  FieldMap,
  FieldPairs,
  PreparedBody,
  RequestContent,
} from './types.js';

/** An encoded body and the Content-Type it needs, null for none. */
export interface EncodedBody {
  body: PreparedBody;
  contentType: string | null;
}

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Encodes the body: files make a multipart body together with the fields of `data`; maps, pairs and URLSearchParams
 * make a form; text, bytes, blobs and iterables go as they are; `json` counts only when `data` is empty.
 */
export function prepareBody(content: RequestContent): EncodedBody {
  const { data, json, files } = content;
  if (files && Object.keys(files).length > 0) return encodeMultipart(files, data);
  if (data === null || data === undefined || isEmpty(data)) {
    if (json === null || json === undefined) return { body: null, contentType: null };
    return { body: encodeJson(json), contentType: 'application/json' };
  }
  if (isForm(data)) return { body: encodeFields(data), contentType: FORM_TYPE };
  if (data instanceof ArrayBuffer) return { body: new Uint8Array(data), contentType: null };
  if (data instanceof Blob) return { body: data, contentType: data.type || null };
  return { body: data, contentType: null };
}

/** True for data that is sent as form fields. */
export function isForm(data: Data): data is FieldMap | FieldPairs | URLSearchParams {
  if (data instanceof URLSearchParams || Array.isArray(data)) return true;
  return isFieldMap(data) && !isBytes(data) && !isStream(data);
}

/** True for bodies that are produced piece by piece. */
export function isStream(body: unknown): body is BodyStream {
  if (typeof body !== 'object' || body === null) return false;
  if (body instanceof Uint8Array || Array.isArray(body)) return false;
  return Symbol.asyncIterator in body || isIterable(body);
}

function isBytes(data: unknown): boolean {
  return data instanceof Uint8Array || data instanceof ArrayBuffer || data instanceof Blob;
}

function isEmpty(data: Data): boolean {
  if (typeof data === 'string') return data === '';
  if (data instanceof URLSearchParams || data instanceof Blob) return data.size === 0;
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return data.byteLength === 0;
  if (Array.isArray(data)) return data.length === 0;
  return isForm(data) && Object.keys(data).length === 0;
}

/** JSON.stringify writes NaN and infinities as null, which would change the meaning; they are refused. */
function encodeJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = stringifyJson(value);
  } catch (error) {
    throw new InvalidJSONError('the json value cannot be written as JSON', { cause: error });
  }
  if (text === undefined || (text.includes('null') && holdsNonFinite(value))) {
    throw new InvalidJSONError('the json value holds something that JSON cannot express');
  }
  return text;
}

function holdsNonFinite(value: unknown): boolean {
  let found = false;
  JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'number' && !Number.isFinite(member)) found = true;
    return typeof member === 'bigint' ? 0 : member;
  });
  return found;
}
