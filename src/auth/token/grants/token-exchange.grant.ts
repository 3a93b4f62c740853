import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, Database, labelRequest, type Config } from '#src/platform/index.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import { ConsentsService } from '../../stores/consents.service.js';
import { narrowScopes } from '../../protocol/scopes.js';
import { ExternalTokens } from '../../bearer/external-tokens.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { TokenIssuer } from './token-issuer.js';
import { nothingLeft } from '../../protocol/oauth-errors.js';
import { TokenResponse } from './token.response.js';
import { ACCESS_TOKEN, checkKinds } from './exchange-kinds.js';
import type { GrantType, TokenRequest } from './grant-type.js';

/** The access token of a trusted identity provider becomes one of ours (RFC 8693). */
@Injectable()
export class TokenExchangeGrant implements GrantType {
  readonly type = 'urn:ietf:params:oauth:grant-type:token-exchange';

  @Inject(CONFIG) private readonly config!: Config;
  @Inject() private readonly database!: Database;
  @Inject() private readonly refreshTokens!: RefreshTokensService;

  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly external: ExternalTokens,
    private readonly consents: ConsentsService,
    private readonly issuer: TokenIssuer,
  ) {}

  async issue({ parameters, request }: TokenRequest): Promise<TokenResponse> {
    const subjectToken = parameters.required('subject_token');
    checkKinds(parameters, this.config.publicUrl);
    const client = await this.clients.authenticate(parameters, request);
    const { user, group, setup } = await this.external.exchange(subjectToken, request, {
      group: parameters.optional('group'),
      setup: parameters.optional('setup'),
    });
    const scopes = narrowScopes(group, parameters.optional('scope'));
    if (scopes.length === 0) throw nothingLeft();
    labelRequest(request, { user, group: group.name, setup });
    const clientId = client.id;
    return this.database.transaction(async (transaction) => {
      const input = { user, clientId, group: group.name, setup, scopes };
      const consent = await this.consents.record(input, 0, transaction);
      const minted = await this.issuer.forConsent(consent);
      await this.consents.touch(transaction, consent.id);
      const refreshToken = await this.refreshTokens.start(transaction, consent.id);
      return TokenResponse.from(minted, { refreshToken, issuedTokenType: ACCESS_TOKEN });
    });
  }
}
