import { Injectable } from '@nestjs/common';
import { labelRequest, type HttpRequest } from '#src/http/index.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { dpopKeyOf } from '../../possession/confirmation.js';
import { TokenCallers } from './token-callers.js';
import { TokenIssuer } from './token-issuer.js';
import type { GrantedTokens, GrantType } from './grant-type.js';
import { RefreshTokenForm } from './grant.request.js';

/** Renewal (RFC 6749 §6): a refresh token gives a fresh access token and its own successor. */
@Injectable()
export class RefreshTokenGrant implements GrantType<RefreshTokenForm> {
  readonly type = RefreshTokenForm.grantType;

  constructor(
    private readonly callers: TokenCallers,
    private readonly refreshTokens: RefreshTokensService,
    private readonly issuer: TokenIssuer,
  ) {}

  async issue(form: RefreshTokenForm, request: HttpRequest): Promise<GrantedTokens> {
    const { refresh_token: token } = form;
    const { client, confirmation } = await this.callers.authenticate(form, request);
    const key = dpopKeyOf(confirmation);
    const consent = await this.refreshTokens.consentOf(token, client.id, key);
    labelRequest(request, { user: consent.user, group: consent.group, setup: consent.setup });
    const { scope, audience, resource } = form;
    const wish = { scope, audience, resource, confirmation };
    const minted = await this.issuer.forConsent(consent, wish);
    const way = client.profile === 'fapi2' ? 'keep' : 'rotate';
    const refreshToken = await this.refreshTokens[way](token, consent);
    return { minted, extras: { refreshToken } };
  }
}
