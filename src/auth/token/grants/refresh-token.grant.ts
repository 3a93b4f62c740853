import { Injectable } from '@nestjs/common';
import { labelRequest } from '#src/platform/index.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { TokenIssuer } from './token-issuer.js';
import { TokenResponse } from './token.response.js';
import type { GrantType, TokenRequest } from './grant-type.js';

/** Renewal (RFC 6749 §6): a refresh token gives a fresh access token and its own successor. */
@Injectable()
export class RefreshTokenGrant implements GrantType {
  readonly type = 'refresh_token';

  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly refreshTokens: RefreshTokensService,
    private readonly issuer: TokenIssuer,
  ) {}

  async issue({ parameters, request }: TokenRequest): Promise<TokenResponse> {
    const token = parameters.required('refresh_token');
    const client = await this.clients.authenticate(parameters, request);
    const consent = await this.refreshTokens.consentOf(token, client.id);
    labelRequest(request, { user: consent.user, group: consent.group, setup: consent.setup });
    const minted = await this.issuer.forConsent(consent, parameters.optional('scope'));
    const refreshToken = await this.refreshTokens.rotate(token, consent);
    return TokenResponse.from(minted, { refreshToken });
  }
}
