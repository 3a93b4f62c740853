import { parseJson } from '#src/kernel/json.js';
import { base64Url } from './request/encoding.js';
import type { TokenResponse } from './generated/schemas.js';
import { GridError } from './grid-error.js';

/** An application at a service, as it was registered. */
export interface Application {
  /** Base URL of the service, without slash at the end. */
  url: string;
  clientId: string;
  redirectUri: string;
}

/** What must be kept between the two steps of a sign-in; only the tab that began it may finish it. */
export interface SignInState {
  state: string;
  verifier: string;
}

/** The first step: where the browser is to be sent, and what to keep meanwhile (RFC 6749 §4.1, RFC 7636). */
export async function beginSignIn(
  application: Application,
  wish: { scope?: string; group?: string; setup?: string; prompt?: string } = {},
): Promise<{ address: string; kept: SignInState }> {
  const kept = { state: randomText(16), verifier: randomText(32) };
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(kept.verifier));
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: application.clientId,
    redirect_uri: application.redirectUri,
    state: kept.state,
    code_challenge: base64Url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    ...wish,
  });
  return { address: `${application.url}/oauth2/auth?${query.toString()}`, kept };
}

/**
 * The second step: changes the code of the redirect address for tokens. Throws GridError `access_denied` and the like
 * when the user or the service refused, `state` when the answer belongs to another sign-in, and `issuer` when it
 * comes from another service (RFC 9207).
 */
export async function finishSignIn(
  application: Application,
  answer: URLSearchParams,
  kept: SignInState,
  send: typeof fetch = (input, init) => fetch(input, init),
): Promise<TokenResponse> {
  if (answer.get('state') !== kept.state) {
    throw refusal('state', 'This answer belongs to another sign-in. Please sign in again.');
  }
  const issuer = answer.get('iss');
  if (issuer !== null && issuer !== application.url) {
    throw refusal('issuer', 'The answer comes from another service.');
  }
  const error = answer.get('error');
  if (error !== null) throw refusal(error, answer.get('error_description') ?? error);
  return requestToken(application.url, send, {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    client_id: application.clientId,
    redirect_uri: application.redirectUri,
    code_verifier: kept.verifier,
  });
}

/** Renews tokens. Throws GridError; with code `unknown` and `problem.error` `invalid_grant` one must sign in again. */
export async function renewToken(
  application: Application,
  refreshToken: string,
  send: typeof fetch = (input, init) => fetch(input, init),
): Promise<TokenResponse> {
  return requestToken(application.url, send, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: application.clientId,
  });
}

/** Gives a refresh token and what was issued from it back (RFC 7009). */
export async function signOut(
  application: Application,
  refreshToken: string,
  send: typeof fetch = (input, init) => fetch(input, init),
): Promise<void> {
  const body = new URLSearchParams({ token: refreshToken, client_id: application.clientId });
  const answer = await send(`${application.url}/oauth2/revoke`, { method: 'POST', body });
  if (!answer.ok) throw await GridError.of(answer);
}

async function requestToken(
  url: string,
  send: typeof fetch,
  form: Record<string, string>,
): Promise<TokenResponse> {
  const body = new URLSearchParams(form);
  const answer = await send(`${url}/oauth2/token`, { method: 'POST', body });
  if (!answer.ok) throw await GridError.of(answer);
  return parseJson(await answer.text()) as unknown as TokenResponse;
}

function refusal(code: string, detail: string): GridError {
  return new GridError(0, { code, detail });
}

function randomText(bytes: number): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
