import { constantTimeEqual } from '#src/kernel/index.js';
import {
  ConfigurationError,
  InvalidResponseError,
  MismatchingStateError,
  MissingCodeError,
  MissingTokenError,
  OAuthError,
} from './oauth-error.js';
import type { TokenFields } from './oauth2-token.js';

/** A form or query value: lists repeat the key, null and undefined are absent. */
export type ParameterValue =
  string | number | boolean | null | undefined | readonly (string | number | boolean)[];
/** Form or query members by name. */
export type Parameters = Readonly<Record<string, ParameterValue>>;

const FORM_TEXT = /^[A-Za-z0-9\-._~+%&=;:@/?!$'()*,]*$/;
const LONE_PERCENT = /%(?![0-9A-Fa-f]{2})/;

/** A scope as the wire has it: lists joined by a space; undefined when there is none. */
export function scopeText(
  scope: string | readonly string[] | null | undefined,
): string | undefined {
  if (scope === null || scope === undefined) return undefined;
  const text = typeof scope === 'string' ? scope : scope.join(' ');
  return text === '' ? undefined : text;
}

/** Adds members to a form or query; lists repeat their key (RFC 8707 `resource`), scopes are joined. */
export function addParameters(target: URLSearchParams, parameters: Parameters): URLSearchParams {
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null || value === undefined) continue;
    if (typeof value !== 'object') {
      target.append(name, String(value));
    } else if (name === 'scope') {
      target.append(name, value.join(' '));
    } else {
      for (const item of value) target.append(name, String(item));
    }
  }
  return target;
}

/** Parses a form that the caller wrote; throws ConfigurationError when it is none. */
export function parseForm(body: string | null | undefined): URLSearchParams {
  const text = body ?? '';
  if (!FORM_TEXT.test(text) || LONE_PERCENT.test(text)) {
    throw new ConfigurationError(
      'the body is not form-encoded (application/x-www-form-urlencoded)',
    );
  }
  return new URLSearchParams(text);
}

/** Appends a query to a URL and keeps what stands there, to the letter and first. */
export function addToQuery(url: string, query: string): string {
  if (query === '') return url;
  const [before = '', ...fragment] = url.split('#');
  const tail = fragment.length > 0 ? `#${fragment.join('#')}` : '';
  const last = before.at(-1);
  const joint = !before.includes('?') ? '?' : last === '?' || last === '&' ? '' : '&';
  return `${before}${joint}${query}${tail}`;
}

/** What the authorization endpoint is asked for. */
export interface AuthorizationParameters {
  response_type: string;
  client_id: string | null | undefined;
  redirect_uri: ParameterValue;
  scope: ParameterValue;
  state: string;
  extra: Parameters;
}

/**
 * The members of an authorization request in their order (RFC 6749 §4.1.1): response_type, client_id,
 * redirect_uri, scope, state, extras. Null drops a member, 0 and '' among the extras are kept.
 */
export function authorizationQuery(request: AuthorizationParameters): URLSearchParams {
  const { response_type, client_id, redirect_uri, scope, state, extra } = request;
  return addParameters(new URLSearchParams(), {
    response_type,
    client_id: client_id ?? null,
    redirect_uri: redirect_uri === '' ? null : redirect_uri,
    scope: scope === '' || (Array.isArray(scope) && scope.length === 0) ? null : scope,
    state: state === '' ? null : state,
    ...extra,
  });
}

/** The part of a URI after the first `#`, or undefined. */
export function fragmentOf(uri: string): string | undefined {
  const at = uri.indexOf('#');
  return at < 0 ? undefined : uri.slice(at + 1);
}

/** The query parameters of a URI or of a path with query. */
export function queryOf(uri: string): URLSearchParams {
  const bare = uri.split('#', 1)[0] ?? '';
  const at = bare.indexOf('?');
  return new URLSearchParams(at < 0 ? '' : bare.slice(at + 1));
}

const SINGLE = ['code', 'state', 'iss', 'error', 'access_token', 'id_token', 'token_type'] as const;

/** Refuses an answer in which a decisive parameter is repeated: two readers could see two values. */
export function refuseDuplicates(answer: URLSearchParams): void {
  for (const name of SINGLE) {
    if (answer.getAll(name).length > 1) {
      throw new InvalidResponseError(`the answer has more than one "${name}"`);
    }
  }
}

/** What an authorization answer is checked against. */
export interface ExpectedAnswer {
  state?: string | null | undefined;
  issuer?: string | undefined;
  /** True when the server announces `authorization_response_iss_parameter_supported` (RFC 9207). */
  issuerRequired?: boolean | undefined;
  errorClass?: typeof OAuthError | undefined;
}

/** Raises the `error` member of an answer as an OAuthError. */
export function raiseAnswerError(answer: URLSearchParams, errorClass: typeof OAuthError): void {
  const error = answer.get('error');
  if (error === null) return;
  throw new errorClass(error === '' ? 'invalid_response' : error, {
    description: answer.get('error_description') ?? undefined,
    uri: answer.get('error_uri') ?? undefined,
  });
}

/**
 * Compares states in constant time; an answer with a state is not ours when none was sent. Throws
 * MismatchingStateError.
 */
export function checkState(actual: string | null, expected: string | null | undefined): void {
  const [sent, got] = [expected ?? '', actual ?? ''];
  if (sent !== got && (sent === '' || got === '' || !constantTimeEqual(got, sent))) {
    throw new MismatchingStateError();
  }
}

/** RFC 9207 §2.4: a present `iss` must be the issuer, and it must be present when the server announces it. */
export function checkIssuer(actual: string | null, expected: ExpectedAnswer): void {
  if (actual === null && expected.issuerRequired !== true) return;
  if (actual === null) throw new InvalidResponseError('the answer has no "iss"');
  if (expected.issuer !== undefined && expected.issuer !== '' && actual !== expected.issuer) {
    throw new InvalidResponseError('the answer comes from another issuer');
  }
}

/**
 * Takes the code out of an authorization answer (RFC 6749 §4.1.2). Order: duplicates, error, state, iss, code.
 */
export function codeFromAnswer(answer: URLSearchParams, expected: ExpectedAnswer = {}): string {
  refuseDuplicates(answer);
  raiseAnswerError(answer, expected.errorClass ?? OAuthError);
  checkState(answer.get('state'), expected.state);
  checkIssuer(answer.get('iss'), expected);
  const code = answer.get('code');
  if (code === null || code === '') throw new MissingCodeError();
  return code;
}

/**
 * Takes the token out of the fragment of an authorization answer (RFC 6749 §4.2.2); all members are kept.
 * The order of the checks: error, access_token, token_type, state.
 */
export function tokenFromFragment(fragment: string, expected: ExpectedAnswer = {}): TokenFields {
  const answer = new URLSearchParams(fragment);
  refuseDuplicates(answer);
  raiseAnswerError(answer, expected.errorClass ?? OAuthError);
  if (!answer.get('access_token')) throw new MissingTokenError('the answer has no access_token');
  if (!answer.get('token_type')) {
    throw new OAuthError('missing_token_type', { description: 'the answer has no token_type' });
  }
  checkState(answer.get('state'), expected.state);
  checkIssuer(answer.get('iss'), expected);
  return Object.fromEntries(answer);
}
