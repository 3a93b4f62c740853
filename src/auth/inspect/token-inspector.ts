import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/platform/index.js';
import { bearerHeaderOf } from '../access/bearer-header.js';
import { CertificateUsers } from '../access/certificate-users.js';
import { ClientAuthenticator } from '../clients/client-authenticator.js';
import { CERTIFICATE_CLIENT } from '../clients/built-in-clients.js';
import { consentIdOf } from '../bearer/access-token.js';
import type { OAuthParameters } from '../protocol/oauth-parameters.js';
import { RefreshTokensService } from '../stores/refresh-tokens.service.js';
import { VerifiedTokens } from '../bearer/verified-tokens.js';
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
  ) {}

  /**
   * The token of the request, undefined when it is unknown, dead, or not the caller's. Throws 400
   * `invalid_request` without a token, 401 `invalid_client` when the caller does not say who it is.
   */
  async inspect(
    parameters: OAuthParameters,
    request: HttpRequest,
  ): Promise<InspectedToken | undefined> {
    const token = parameters.required('token');
    const namesCertificate = parameters.optional('client_id') === CERTIFICATE_CLIENT;
    const client = namesCertificate ? undefined : await this.clients.find(parameters, request);
    const isBearer = bearerHeaderOf(request) === token;
    const user = client || isBearer ? undefined : await this.certificates.userOf(request);
    if (!client && !isBearer && !user) throw unauthenticated();
    const found = await this.find(token);
    if (!found || isBearer) return found;
    return mayAskAbout(found, { client, user }) ? found : undefined;
  }

  private async find(token: string): Promise<InspectedToken | undefined> {
    const claims = await this.verified.claims(token);
    if (claims) return { kind: 'access_token', claims, consentId: consentIdOf(claims.jti) };
    const refresh = await this.refreshTokens.find(token);
    return refresh && { kind: 'refresh_token', ...refresh };
  }
}

function unauthenticated(): OAuthProblem {
  return new OAuthProblem(
    'invalid_client',
    'Say which application asks (client_id), or present the token itself as bearer',
    { status: 401, code: 'auth.client-unknown' },
  );
}
