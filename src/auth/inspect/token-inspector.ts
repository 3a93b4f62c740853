import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { TokenPlace } from '../possession/confirmation.js';
import { TokenHolders } from '../possession/token-holders.js';
import { CertificateUsers } from '../access/certificate-users.js';
import { ClientAuthenticator } from '../clients/client-authenticator.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { RefreshTokensService } from '../stores/refresh-tokens.service.js';
import type { InspectForm } from './inspect.request.js';
import { mayAskAbout, type InspectedToken } from './inspected-token.js';
import { bearerHeaderOf } from '../access/access.guard.js';
import { dpopToken } from '../access/dpop-token.js';
import { VerifiedTokens } from '../bearer/bearer-tokens.js';

/**
 * Finds the token of a revocation or introspection request and checks that the caller may ask about it: a
 * confidential application about its own tokens, a public one (by its client_id) likewise, anybody about the very
 * token that is the bearer of the request, and the holder of a certificate about certificate tokens.
 */
@Injectable()
export class TokenInspector {
  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly certificates: CertificateUsers,
    private readonly verified: VerifiedTokens,
    private readonly refreshTokens: RefreshTokensService,
    private readonly holders: TokenHolders,
  ) {}

  /**
   * The token of the request, undefined when it is unknown, dead, or not the caller's. Throws 401 `invalid_client` when the
   * caller does not say who it is, and with a challenge when it shows the token and is not its holder.
   */
  async inspect(form: InspectForm, request: HttpRequest): Promise<InspectedToken | undefined> {
    const { token } = form;
    const namesCertificate = form.client_id === CERTIFICATE_CLIENT;
    const client = namesCertificate ? undefined : await this.clients.find(form, request);
    const place = placeOf(token, request);
    const isBearer = place !== undefined;
    const user = client || isBearer ? undefined : await this.certificates.userOf(request);
    if (!client && !isBearer && !user) throw unauthenticated();
    const found = await this.find(token);
    if (!found) return undefined;
    if (place) {
      // The very token as bearer is worth nothing to who is not its holder.
      if (found.kind === 'access_token') {
        await this.holders.check(found.claims.cnf, { token, place, request });
      }
      return found;
    }
    return mayAskAbout(found, { client, user }) ? found : undefined;
  }

  private async find(token: string): Promise<InspectedToken | undefined> {
    const claims = await this.verified.claims(token);
    if (claims) return { kind: 'access_token', claims };
    const refresh = await this.refreshTokens.find(token);
    return refresh && { kind: 'refresh_token', ...refresh };
  }
}

/** How the request shows the token itself, undefined when it shows none or another one. */
function placeOf(token: string, request: HttpRequest): TokenPlace | undefined {
  if (bearerHeaderOf(request) === token) return 'bearer';
  return dpopToken(request.headers.authorization) === token ? 'dpop' : undefined;
}

function unauthenticated(): OAuthProblem {
  return new OAuthProblem(
    'invalid_client',
    'Say which application asks (client_id), or present the token itself as bearer',
    { code: 'auth.client-unknown' },
  );
}
