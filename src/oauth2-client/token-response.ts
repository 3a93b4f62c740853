import type { Response } from '#src/http-client/index.js';
import type { Clock } from '#src/kernel/index.js';
import {
  ConfigurationError,
  HttpError,
  InvalidResponseError,
  type OAuthError,
  UnsupportedTokenTypeError,
  type OAuthErrorDetails,
} from './oauth-error.js';
import { OAuth2Token, type TokenFields } from './oauth2-token.js';

/** How answers of one call are read. */
export interface ResponseContext {
  /** Name of the endpoint for messages. */
  endpoint: string;
  errorClass: typeof OAuthError;
  /** What was sent and must not come back in a message. */
  secrets: readonly string[];
  clock: Clock;
  /** When the request was sent, milliseconds. */
  sentAt: number;
}

/** An answer together with what is needed to read it. */
export interface ProtocolAnswer {
  response: Response;
  context: ResponseContext;
}

type JsonRecord = Record<string, unknown>;

const SHORTEST_SECRET = 4;

/** Seconds of a `Retry-After` header, given as seconds or as a date (RFC 9110 §10.2.3). */
export function retryAfterSeconds(
  value: string | null | undefined,
  now: number,
): number | undefined {
  if (value === null || value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** Removes what was sent from a text that a server wrote, as it is or in the encodings of URLs and forms. */
function redact(text: unknown, secrets: readonly string[]): string | undefined {
  if (typeof text !== 'string') return undefined;
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < SHORTEST_SECRET) continue;
    for (const form of formsOf(secret)) clean = clean.replaceAll(form, '[redacted]');
  }
  return clean;
}

/** A secret as it may stand in a text; escapes may be in small letters. */
function formsOf(secret: string): Set<string> {
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  const encoded = [
    form,
    form.replaceAll('+', '%20'),
    encodeURIComponent(Buffer.from(secret).toString()),
  ];
  const small = (text: string): string => text.replace(/%[0-9A-F]{2}/g, (it) => it.toLowerCase());
  return new Set([secret, ...encoded, ...encoded.map(small)]);
}

function recordOf(response: Response): JsonRecord | unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(response.text);
    if (typeof value === 'object' && value !== null) return value as JsonRecord | unknown[];
  } catch {
    // the parser's message would show the body
  }
  return undefined;
}

function detailsOf({ response, context }: ProtocolAnswer): OAuthErrorDetails {
  const status = response.status_code;
  return {
    status,
    retryable: status >= 500 || status === 429,
    retryAfter: retryAfterSeconds(response.headers.get('Retry-After'), context.clock.now()),
    headers: Object.fromEntries(
      [...response.headers].map(([name, value]) => [name.toLowerCase(), value]),
    ),
  };
}

function httpError(answer: ProtocolAnswer, body?: unknown): HttpError {
  const { response, context } = answer;
  const status = response.status_code;
  const what =
    status >= 300 && status < 400 ? 'redirects, which is not followed' : `answers ${status}`;
  return new HttpError(`the ${context.endpoint} ${what}`, {
    ...detailsOf(answer),
    hasJson: body !== undefined,
  });
}

/** The error of a protected endpoint, which stands in a header (RFC 6750 §3). */
function challengeError(answer: ProtocolAnswer): OAuthError | undefined {
  const challenge = answer.response.headers.get('WWW-Authenticate') ?? '';
  const error = /\berror="([\x21\x23-\x5b\x5d-\x7e]{1,100})"/.exec(challenge)?.[1];
  return error === undefined ? undefined : serverError(answer, { error });
}

function serverError(answer: ProtocolAnswer, body: JsonRecord): OAuthError {
  const { errorClass, secrets } = answer.context;
  const details: OAuthErrorDetails = {
    ...detailsOf(answer),
    description: redact(body['error_description'], secrets),
    uri: redact(body['error_uri'], secrets),
  };
  if (body['error'] === 'unsupported_token_type') {
    return new UnsupportedTokenTypeError(details.description, details);
  }
  return new errorClass(redact(body['error'], secrets) ?? 'invalid_response', details);
}

/**
 * Sorts out failures: 5xx → HttpError (retryable); JSON with `error` at any other status → the OAuth error;
 * redirects and every other status but success → HttpError. Answers the JSON of a success, if it is any.
 */
function successBody(answer: ProtocolAnswer): JsonRecord | unknown[] | undefined {
  const { response } = answer;
  const status = response.status_code;
  if (status >= 500 || (status >= 300 && status < 400)) throw httpError(answer);
  const body = recordOf(response);
  if (body !== undefined && !Array.isArray(body)) {
    const { error } = body;
    if (typeof error === 'string' && error !== '') throw serverError(answer, body);
  }
  if (status < 200 || status >= 300) throw challengeError(answer) ?? httpError(answer, body);
  return body;
}

/** The JSON object of a successful answer; throws HttpError, InvalidResponseError or the server's OAuth error. */
export function parseObject(answer: ProtocolAnswer): JsonRecord {
  const body = successBody(answer);
  if (body === undefined) throw httpErrorOrNoJson(answer);
  if (Array.isArray(body)) {
    throw new InvalidResponseError(`the ${answer.context.endpoint} answers no JSON object`, {
      status: answer.response.status_code,
    });
  }
  return body;
}

/** A success that is no JSON is some other machine's page: HttpError keeps status and Retry-After. */
function httpErrorOrNoJson(answer: ProtocolAnswer): HttpError {
  return new HttpError(`the ${answer.context.endpoint} answers no JSON`, detailsOf(answer));
}

/** The token of a token response (RFC 6749 §5.1); its expiry counts from the time the request was sent. */
export function parseToken(answer: ProtocolAnswer): OAuth2Token {
  const fields = parseObject(answer) as TokenFields;
  const { endpoint, clock, sentAt } = answer.context;
  const status = answer.response.status_code;
  const type: unknown = fields.token_type;
  if (typeof fields.access_token !== 'string' || fields.access_token === '') {
    throw new InvalidResponseError(`the ${endpoint} answers no access_token`, { status });
  }
  if (type !== undefined && type !== null && typeof type !== 'string') {
    throw new InvalidResponseError(`the ${endpoint} answers a token_type that is no text`, {
      status,
    });
  }
  try {
    return new OAuth2Token(fields, { clock, sentAt });
  } catch (cause) {
    if (!(cause instanceof ConfigurationError)) throw cause;
    throw new InvalidResponseError(`the ${endpoint} answers an expires_in that is no number`, {
      status,
    });
  }
}

/** Passes when the answer is a success of any content (RFC 7009 §2.2); throws like parseObject. */
export function requireSuccess(answer: ProtocolAnswer): void {
  successBody(answer);
}

/** The introspection answer (RFC 7662 §2.2): status 200 and `active` a boolean. */
export function parseIntrospection(answer: ProtocolAnswer): JsonRecord & { active: boolean } {
  const body = parseObject(answer);
  const { active } = body;
  if (answer.response.status_code !== 200) throw httpError(answer);
  if (typeof active !== 'boolean') {
    throw new InvalidResponseError('the introspection endpoint answers no boolean "active"', {
      status: 200,
    });
  }
  return { ...body, active };
}
