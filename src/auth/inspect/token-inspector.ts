import { Injectable } from '@nestjs/common';
import { OAuthProblem, Problem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/platform/index.js';
import type { TokenPlace } from '../possession/confirmation.js';
import { TokenHolders, type PresentedToken } from '../possession/token-holders.js';
import { bearerHeaderOf, dpopToken } from '../access/bearer-header.js';
import { CertificateUsers } from '../access/certificate-users.js';
import { ClientAuthenticator } from '../clients/client-authenticator.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { RefreshTokensService } from '../stores/refresh-tokens.service.js';
import { VerifiedTokens } from '../bearer/verified-tokens.js';
import type { InspectForm } from './inspect.request.js';
import { mayAskAbout, type InspectedToken } from './inspected-token.js';

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
   * caller does not say who it is.
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
      await this.requireHolder(found, { token, place, request });
      return found;
    }
    return mayAskAbout(found, { client, user }) ? found : undefined;
  }

  /** The very token as bearer is worth nothing to who is not its holder. */
  private async requireHolder(found: InspectedToken, presented: PresentedToken): Promise<void> {
    if (found.kind !== 'access_token') return;
    try {
      await this.holders.check(found.claims.cnf, presented);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error;
      const { detail, code, headers } = error;
      throw new OAuthProblem('invalid_token', detail, { status: 401, code, headers });
    }
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
    { status: 401, code: 'auth.client-unknown' },
  );
}
