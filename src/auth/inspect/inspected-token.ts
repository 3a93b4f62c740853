import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import type { ConsentEntity } from '../stores/consent.entity.js';
import { userNameOf, type AccessTokenClaims } from '../bearer/access-token.js';

/** A token as revocation and introspection see it. */
export type InspectedToken =
  | { kind: 'access_token'; claims: AccessTokenClaims }
  | { kind: 'refresh_token'; consent: ConsentEntity; isLive: boolean };

/** Who asks about a token: an application that has proved itself, or the user of a certificate. */
export interface Asker {
  client: { id: string } | undefined;
  user: { name: string } | undefined;
}

/**
 * May they ask about this token? An application about its own tokens, whoever's they are; the holder of a certificate
 * about own tokens that were given for certificates.
 */
export function mayAskAbout(found: InspectedToken, { client, user }: Asker): boolean {
  const owner = ownerOf(found);
  if (client) return owner.clientId === client.id;
  return owner.clientId === CERTIFICATE_CLIENT && owner.user === user?.name;
}

function ownerOf(found: InspectedToken): { clientId: string; user: string } {
  return found.kind === 'access_token'
    ? { clientId: found.claims.client_id, user: userNameOf(found.claims) }
    : { clientId: found.consent.clientId, user: found.consent.user };
}
