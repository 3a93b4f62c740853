import { ConfigurationError, InvalidTokenError } from '#src/oauth2-client/index.js';
import { unverifiedClaims } from './token-verifier.js';

/** What of a provider decides whether a token is its own. */
export interface RoutableProvider {
  readonly issuer: string;
  readonly client_id: string | null;
}

const bare = (issuer: string): string => issuer.replace(/(?<!\/)\/+$/, '');

/**
 * The provider that a token belongs to: its issuer and its client (`client_id`, else `azp`) must both be the
 * provider's. Only the choice uses unverified claims, verify the token with the provider that is answered. Throws
 * InvalidTokenError when the token names neither, ConfigurationError when no provider fits.
 */
export function providerOfToken<P extends RoutableProvider>(
  token: string,
  providers: Iterable<P>,
): P {
  const claims = unverifiedClaims(token);
  const client = claims?.client_id ?? claims?.['azp'];
  const issuer = claims?.iss;
  if (typeof issuer !== 'string' || typeof client !== 'string') {
    throw new InvalidTokenError('the token names no issuer or no client', { error: 'malformed' });
  }
  for (const provider of providers) {
    if (bare(provider.issuer) === bare(issuer) && provider.client_id === client) return provider;
  }
  throw new ConfigurationError('no provider is configured for the issuer and client of the token');
}
