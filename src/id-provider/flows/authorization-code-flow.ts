import { constantTimeEqual } from '#src/kernel/index.js';
import {
  codeFromAnswer,
  ConfigurationError,
  InvalidResponseError,
  MismatchingStateError,
  type OAuthError,
  queryOf,
  refuseDuplicates,
  type TokenFields,
} from '#src/oauth2-client/index.js';
import type { LoginSessionRecord, LoginSessionStore } from './login-sessions.js';

/** The request that brings the browser back: GET with the answer in the URL, or POST of a form (form_post). */
export interface CallbackRequest {
  method?: string | undefined;
  uri: string;
  /** The form as text or bytes, or already taken apart. */
  body?:
    string | Uint8Array | URLSearchParams | Readonly<Record<string, unknown>> | null | undefined;
  headers?: Readonly<Record<string, unknown>> | undefined;
}

/** What the browser holds of its login: at least the state. The token of a completed login is put into it. */
export interface BrowserSession {
  [member: string]: unknown;
  state?: unknown;
  token?: TokenFields | null;
}

/** Throws ConfigurationError for a session that the token could not be put into: before the login is used up. */
export function requireRoomForToken(session: unknown): void {
  if (session === undefined || session === null) return;
  const isObject = typeof session === 'object' && !Array.isArray(session);
  if (
    !isObject ||
    Object.isFrozen(session) ||
    !('token' in session || Object.isExtensible(session))
  ) {
    throw new ConfigurationError(
      'parseAuthResponse: "session" must be an object that a token can be put into',
    );
  }
}

/** What the answer of a login is checked against. */
export interface LoginContext {
  store: LoginSessionStore;
  provider: string;
  issuer: string;
  /** Whether the server announces `iss` in its answers (RFC 9207). */
  issuerRequired: boolean;
  errorClass: typeof OAuthError;
}

function formOf(body: CallbackRequest['body']): URLSearchParams {
  if (body instanceof URLSearchParams) return body;
  if (typeof body === 'string') return new URLSearchParams(body);
  if (body instanceof Uint8Array) return new URLSearchParams(Buffer.from(body).toString('utf8'));
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body ?? {})) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    for (const item of values) if (typeof item === 'string') form.append(name, item);
  }
  return form;
}

/** The parameters of the answer: of the form for POST, else of the query. */
function answerOf(response: CallbackRequest): URLSearchParams {
  if ((response.method ?? 'GET').toUpperCase() === 'POST') return formOf(response.body);
  return queryOf(response.uri);
}

/**
 * Takes the login that an answer belongs to, once. Order: the record of the answer's state, the browser's state
 * (constant time), the provider (a mix-up of providers). Throws MismatchingStateError.
 */
async function takeLogin(
  answer: URLSearchParams,
  session: BrowserSession | null | undefined,
  context: LoginContext,
): Promise<LoginSessionRecord> {
  const state = answer.get('state') ?? '';
  if (state === '') throw new MismatchingStateError('the answer has no state');
  const record = await context.store.take(state);
  const held: unknown = session?.state;
  if (typeof held !== 'string' || !constantTimeEqual(held, state))
    throw new MismatchingStateError();
  if (record === null || record === undefined) {
    throw new MismatchingStateError('there is no such login: it is used, too old or never began');
  }
  if (record.provider !== context.provider) {
    throw new MismatchingStateError('the login was begun with another provider');
  }
  return record;
}

/** The login an answer completes, and its code. */
export interface CompletedLogin {
  record: LoginSessionRecord;
  code: string;
}

/** Reads the answer of a login (RFC 6749 §4.1.2, RFC 9207): duplicates, login, iss, error, code. */
export async function readAnswer(
  response: CallbackRequest | null | undefined,
  session: BrowserSession | null | undefined,
  context: LoginContext,
): Promise<CompletedLogin> {
  if (typeof response !== 'object' || response === null || typeof response.uri !== 'string') {
    throw new ConfigurationError('parseAuthResponse: "response" must have a uri');
  }
  const answer = answerOf(response);
  refuseDuplicates(answer);
  const record = await takeLogin(answer, session, context);
  const issuer = answer.get('iss');
  if (issuer === null ? context.issuerRequired : issuer !== (record.issuer || context.issuer)) {
    throw new InvalidResponseError('the answer does not come from the issuer of the login (iss)');
  }
  const { state } = record;
  const code = codeFromAnswer(answer, { state, errorClass: context.errorClass });
  return { record, code };
}
