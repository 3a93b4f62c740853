import type { IncomingMessage } from 'node:http';
import {
  ByteBuffer,
  inexactNumberAt,
  isJsonObject,
  loopTurn,
  parseJson,
  Problem,
  repeatedMember,
  Slices,
  stringifyJson,
  type JsonObject,
  type JsonValue,
} from '#src/kernel/index.js';
import { MAX_DEPTH, MAX_VALUES, tooHeavy } from './json-weight.js';
import { QueryValues } from './messages.js';

/** Escapes of what the database cannot keep; as themselves NUL is no JSON and half pairs are no UTF-8. */
const MAY_BE_UNSTORABLE = /\\u(?:0000|d[89a-f])/i;
/** Characters of a member's name that are told. */
const MOST_OF_A_NAME = 100;
const UNSTORABLE = /[\0\ud800-\udfff]/u;

/** The media type of the body in lower case without parameters; '' when there is none. */
export function contentTypeOf(request: IncomingMessage): string {
  return (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

/** True when the request announces a body. */
export function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && Number(length) > 0);
}

/** 415 that names what would be understood. */
export function unsupportedMediaType(request: IncomingMessage, expected: string): Problem {
  const given = contentTypeOf(request) || 'none';
  return new Problem(
    'request.unsupported-media-type',
    `Content type ${given} is not supported here; send ${expected}`,
  );
}

/** 415 for a body in a content encoding, which nothing here decodes. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  const detail = `Content encoding ${encoding} is not supported`;
  throw new Problem('request.unsupported-media-type', detail);
}

/**
 * The body as it arrives. Throws Problem 413 above the limit (the rest is not read), 415 for a content encoding, 400
 * when it ends before its end. Who stops reading leaves the rest unread and the connection whole.
 */
export async function* readChunks(
  request: IncomingMessage,
  limitBytes: number,
): AsyncGenerator<Buffer> {
  refuseEncoding(request);
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > limitBytes) throw bodyTooLarge(limitBytes);
  let size = 0;
  const slices = new Slices();
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > limitBytes) throw bodyTooLarge(limitBytes);
      yield chunk;
      if (slices.isOver) await slices.rest(); // a chunk may be a byte
    }
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw cutOff(cause);
  }
}

/** Bytes as UTF-8 text without a byte order mark; `where` names them in the message. Throws Problem 400. */
export function decodeText(bytes: Uint8Array, where = 'The body'): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem('request.malformed-body', `${where} is not valid UTF-8`, { cause });
  }
}

/**
 * Reads the whole body as UTF-8 text. 413 above the limit (the rest is not read), 400 for bytes that are no
 * UTF-8, 415 for a content encoding.
 */
async function readText(request: IncomingMessage, limitBytes: number): Promise<string> {
  refuseEncoding(request);
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  const bytes = await wholeBody(request, limitBytes);
  await loopTurn.room();
  return decodeText(bytes);
}

/** By events: the iterator of a stream costs a short body more than all of its reading. */
function wholeBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const bytes = new ByteBuffer();
    const finish = (problem?: Problem): void => {
      request.off('data', add).off('end', end).off('error', cut).off('close', cut);
      if (!problem) return resolve(bytes.take());
      request.pause();
      reject(problem);
    };
    const add = (chunk: Buffer): void => {
      if (bytes.length + chunk.length > limitBytes) finish(bodyTooLarge(limitBytes));
      else bytes.add(chunk);
    };
    const end = (): void => finish();
    const cut = (cause?: unknown): void => finish(cutOff(cause));
    if (request.destroyed && !request.readableEnded) cut();
    else request.on('data', add).on('end', end).on('error', cut).on('close', cut);
  });
}

function cutOff(cause: unknown): Problem {
  return new Problem('request.malformed-body', 'The body ended before its announced end', {
    cause,
  });
}

/** Reads a JSON object. 415 unless application/json, 400 with the parser's position, 413 above the limit. */
export async function readJsonObject(
  request: IncomingMessage,
  limitBytes: number,
): Promise<JsonObject> {
  if (contentTypeOf(request) !== 'application/json') {
    throw unsupportedMediaType(request, 'application/json');
  }
  const value = parseJsonText(await readText(request, limitBytes));
  if (!isJsonObject(value)) {
    throw new Problem('request.malformed-body', 'The body must be a JSON object');
  }
  return value;
}

/**
 * Parses JSON of a caller; `where` names the text in the message. Throws Problem 400 with the position, 413 for more than
 * MAX_VALUES values; a member that stands twice in one object is 400 and named, a number that no double holds 400 with its place.
 */
export function parseJsonText(text: string, where = 'The body'): JsonValue {
  refuseHeavy(text, where);
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (cause) {
    const reason = (cause as Error).message.replaceAll('\0', '?');
    // Without a cause: that would be logged, and what is in a body is nothing for a log.
    throw new Problem('request.malformed-body', `${where} is not valid JSON: ${reason}`);
  }
  const twice = repeatedMember(text, value);
  if (twice !== undefined) {
    const name = stringifyJson(twice.slice(0, MOST_OF_A_NAME));
    const detail = `${where} has the member ${name} twice in one object; leave one of them out`;
    throw new Problem('request.malformed-body', detail);
  }
  const inexact = inexactNumberAt(text);
  if (inexact !== undefined) {
    const detail = `${where} has a number at position ${inexact} that would become another one: give it at most 17 digits, or write it as a text`;
    throw new Problem('request.malformed-body', detail);
  }
  if (MAY_BE_UNSTORABLE.test(text) && hasUnstorable(value)) {
    const detail = `${where} has a text with a NUL character or half of a surrogate pair`;
    throw new Problem('request.malformed-body', detail);
  }
  return value;
}

/** Reads a form body (application/x-www-form-urlencoded) as a multi-map. */
export async function readForm(request: IncomingMessage, limitBytes: number): Promise<QueryValues> {
  if (contentTypeOf(request) !== 'application/x-www-form-urlencoded') {
    throw unsupportedMediaType(request, 'application/x-www-form-urlencoded');
  }
  return new QueryValues(await readText(request, limitBytes));
}

/** 413 of a body that is not read to its end. */
export function bodyTooLarge(limitBytes: number): Problem {
  return new Problem('request.too-large', `The body is larger than ${limitBytes} bytes`, {
    headers: { Connection: 'close' },
  });
}

function refuseHeavy(text: string, where: string): void {
  const heavy = tooHeavy(text);
  if (heavy === 'depth') {
    const detail = `${where} is nested deeper than ${MAX_DEPTH} levels`;
    throw new Problem('request.malformed-body', detail);
  }
  if (heavy === 'values') {
    const detail = `${where} has more than ${MAX_VALUES} values`;
    throw new Problem('request.too-large', detail, { members: { limit: MAX_VALUES } });
  }
}

function hasUnstorable(value: JsonValue): boolean {
  if (typeof value === 'string') return UNSTORABLE.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => UNSTORABLE.test(key) || hasUnstorable(inner));
}
