import type { Client } from '#src/registry/index.js';
import type { AuthorizationCodeEntity } from '../../stores/authorization-code.entity.js';
import { matchesChallenge } from '../../protocol/pkce.js';
import { isRegisteredRedirect } from '../../protocol/redirect-uri.js';
import type { AuthorizationCodeForm } from './grant.request.js';

/**
 * Whether a token request brings what its code was given for: the same redirect URI (RFC 6749 §4.1.3), the verifier of
 * the challenge (RFC 7636 §4.6), and in time. A code that was used already is judged without its time, so that whoever
 * shows it again is noticed however late.
 */
export function isBoundTo(
  stored: AuthorizationCodeEntity,
  sent: {
    form: Pick<AuthorizationCodeForm, 'redirect_uri' | 'code_verifier'>;
    client: Client;
    now: number;
  },
): boolean {
  const { form, client, now } = sent;
  const isAlive = stored.usedAt !== null || stored.expiresAt.getTime() > now;
  return (
    isAlive &&
    isRedirectRight(stored, form.redirect_uri, client) &&
    isVerifierRight(stored, form.code_verifier)
  );
}

/** One that the authorization request did not name need not be named here, but what is named must be registered. */
function isRedirectRight(
  { redirectUri }: AuthorizationCodeEntity,
  sent: string | undefined,
  client: Client,
): boolean {
  if (redirectUri !== null) return sent === redirectUri;
  return sent === undefined || isRegisteredRedirect(client, sent);
}

/** A verifier without a challenge means that somebody took the challenge away (RFC 9700 §4.8.2). */
function isVerifierRight(
  { codeChallenge }: AuthorizationCodeEntity,
  sent: string | undefined,
): boolean {
  if (codeChallenge === null) return sent === undefined;
  return sent !== undefined && matchesChallenge(sent, codeChallenge);
}
