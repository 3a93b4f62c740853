import { Injectable } from '@nestjs/common';
import { Database } from '#src/database/index.js';
import { labelRequest, type HttpRequest } from '#src/http/index.js';
import type { Client } from '#src/registry/index.js';
import { ConsentsService } from '../../stores/consents.service.js';
import { scopeWords } from '../../protocol/grid-scopes.js';
import { exchangeableScopes } from '../../bearer/external-grantee.js';
import { ExternalTokens, type ExternalGrantee } from '../../bearer/external-tokens.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { TokenNarrowing } from './token-narrowing.js';
import { dpopKeyOf } from '../../possession/confirmation.js';
import { boundKey } from '../../stores/refresh-rotation.js';
import { TokenCallers } from './token-callers.js';
import { TokenIssuer, type Wish } from './token-issuer.js';
import { nothingLeft } from '../../protocol/oauth-errors.js';
import type { GrantedTokens, GrantType } from './grant-type.js';
import { ACCESS_TOKEN, TokenExchangeForm } from './grant.request.js';

/** The access token of a trusted identity provider becomes one of ours, and one of ours a narrower one (RFC 8693). */
@Injectable()
export class TokenExchangeGrant implements GrantType<TokenExchangeForm> {
  readonly type = TokenExchangeForm.grantType;

  constructor(
    private readonly callers: TokenCallers,
    private readonly external: ExternalTokens,
    private readonly consents: ConsentsService,
    private readonly issuer: TokenIssuer,
    private readonly narrowing: TokenNarrowing,
    private readonly database: Database,
    private readonly refreshTokens: RefreshTokensService,
  ) {}

  async issue(form: TokenExchangeForm, request: HttpRequest): Promise<GrantedTokens> {
    const { client, confirmation } = await this.callers.authenticate(form, request);
    const narrowed = await this.narrowing.narrow(form, { client, confirmation, request });
    if (narrowed) return { minted: narrowed, extras: { issuedTokenType: ACCESS_TOKEN } };
    const grantee = await this.external.exchange(form.subject_token, request, {
      group: form.group,
      setup: form.setup,
    });
    const scopes = exchangeableScopes(scopeWords(form.scope), grantee);
    if (scopes.length === 0) throw nothingLeft();
    const { user, group, setup } = grantee;
    labelRequest(request, { user: user.name, group: group.name, setup });
    const { audience, resource } = form;
    const bond = grantee.confirmation ?? confirmation;
    return this.issueFor(client, grantee, { scopes, audience, resource, confirmation: bond });
  }

  /** Where the token is to end with the provider's, there is nothing to renew it with. */
  private issueFor(
    client: Client,
    { user, group, setup, notAfter }: ExternalGrantee,
    { scopes, ...wish }: Omit<Wish, 'scope'> & { scopes: string[] },
  ): Promise<GrantedTokens> {
    const clientId = client.id;
    return this.database.transaction(async (transaction) => {
      const input = { user, clientId, group: group.name, setup, scopes };
      const consent = await this.consents.record(input, 0, transaction);
      const minted = await this.issuer.forConsent(consent, {
        ...wish,
        ...(notAfter && { notAfter }),
      });
      await this.consents.touch(transaction, consent.id);
      if (notAfter) return { minted, extras: { issuedTokenType: ACCESS_TOKEN } };
      const bond = boundKey(client, dpopKeyOf(wish.confirmation));
      const refreshToken = await this.refreshTokens.start(transaction, consent.id, bond);
      return { minted, extras: { refreshToken, issuedTokenType: ACCESS_TOKEN } };
    });
  }
}
