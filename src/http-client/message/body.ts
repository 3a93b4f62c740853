import { stringifyJson } from '#src/kernel/index.js';
import { isPlainObject } from './arguments.js';
import { isForm, isStream, type EncodedBody } from './body-kinds.js';
import { InvalidJSONError } from './errors.js';
import { encodeFields } from './fields.js';
import { encodeMultipart } from './multipart.js';
import type { Data, FilePart, RequestContent } from './types.js';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/**
 * Encodes the body: files make a multipart body together with the fields of `data`; maps, pairs and URLSearchParams
 * make a form, FormData a multipart one; text, bytes, blobs and iterables go as they are; `json` counts only when `data`
 * is empty. Throws TypeError for data that nothing of this fits.
 */
export function prepareBody(content: RequestContent): EncodedBody {
  const { data, json, files } = content;
  if (files && Object.keys(files).length > 0) return encodeMultipart(files, data);
  if (isEmpty(data)) {
    if (json === null || json === undefined) return { body: null, contentType: null };
    return { body: encodeJson(json), contentType: 'application/json' };
  }
  if (isForm(data)) return { body: encodeFields(data), contentType: FORM_TYPE };
  if (data instanceof FormData) return encodeMultipart(filesOfForm(data), null);
  if (data instanceof ArrayBuffer) return { body: new Uint8Array(data), contentType: null };
  if (data instanceof Blob) return { body: data, contentType: data.type || null };
  if (data instanceof Uint8Array || typeof data === 'string' || isStream(data)) {
    return { body: data, contentType: null };
  }
  if (!ArrayBuffer.isView(data)) throw new TypeError('data cannot be sent: it is no body');
  return { body: new Uint8Array(data.buffer, data.byteOffset, data.byteLength), contentType: null };
}

/** Texts are plain fields, everything else is a file with its own name. */
function filesOfForm(form: FormData): [string, FilePart][] {
  return [...form].map(([name, value]) => [
    name,
    typeof value === 'string' ? [null, value] : [value.name, value],
  ]);
}

/** Whether there is nothing to be sent. */
export function isEmpty(data: Data | null | undefined): data is null | undefined {
  if (data === null || data === undefined || data === '') return true;
  if (data instanceof URLSearchParams || data instanceof Blob) return data.size === 0;
  if (ArrayBuffer.isView(data) || data instanceof ArrayBuffer) return data.byteLength === 0;
  if (Array.isArray(data)) return data.length === 0;
  return isPlainObject(data) && Object.keys(data).length === 0;
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
