import { Inject, Injectable } from '@nestjs/common';
import { sha256, type Clock } from '#src/kernel/index.js';
import { Audit, CLOCK, Database, labelRequest } from '#src/platform/index.js';
import { AuthorizationCodesRepository } from '../../stores/authorization-codes.repository.js';
import type { AuthorizationCodeEntity } from '../../stores/authorization-code.entity.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import { ConsentsRepository } from '../../stores/consents.repository.js';
import { ConsentsService } from '../../stores/consents.service.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { TokenIssuer } from './token-issuer.js';
import { invalidGrant } from '../../protocol/oauth-errors.js';
import { TokenResponse } from './token.response.js';
import { isBoundTo } from './code-binding.js';
import type { GrantType, TokenRequest } from './grant-type.js';

const WHAT = 'code';

/** Flow B, second half: the code of the redirect becomes an access token and a refresh token. */
@Injectable()
export class AuthorizationCodeGrant implements GrantType {
  readonly type = 'authorization_code';

  @Inject() private readonly codes!: AuthorizationCodesRepository;
  @Inject() private readonly consents!: ConsentsRepository;
  @Inject() private readonly consentsService!: ConsentsService;
  @Inject() private readonly refreshTokens!: RefreshTokensService;
  @Inject(CLOCK) private readonly clock!: Clock;

  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly issuer: TokenIssuer,
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  async issue({ parameters, request }: TokenRequest): Promise<TokenResponse> {
    const code = parameters.required('code');
    const client = await this.clients.authenticate(parameters, request);
    const stored = await this.codes.find(sha256(code));
    const consent = stored && (await this.consents.find(stored.consentId));
    if (!consent || consent.clientId !== client.id) throw invalidGrant(WHAT);
    const sent = { parameters, client, now: this.clock.now() };
    if (!isBoundTo(stored, sent)) throw invalidGrant(WHAT);
    if (stored.usedAt) {
      // RFC 6749 §4.1.2: somebody has the code who should not; what came from it is not safe any more
      await this.consentsService.revoke(consent.id);
      const { user, group, setup } = consent;
      this.audit.done(
        'code.reused',
        { consent: consent.id },
        { request, actor: { user, group, setup } },
      );
      throw invalidGrant(WHAT);
    }
    if (consent.revokedAt) throw invalidGrant(WHAT);
    labelRequest(request, { user: consent.user, group: consent.group, setup: consent.setup });
    const minted = await this.issuer.forConsent(consent, parameters.optional('scope'));
    const refreshToken = await this.consume(stored, consent.id);
    return TokenResponse.from(minted, { refreshToken });
  }

  private async consume(stored: AuthorizationCodeEntity, consentId: string): Promise<string> {
    return this.database.transaction(async (transaction) => {
      const isFirst = await this.codes.consume(
        transaction,
        stored.hash,
        new Date(this.clock.now()),
      );
      if (!isFirst) throw invalidGrant(WHAT); // another exchange at the same moment was first
      await this.consentsService.touch(transaction, consentId);
      return this.refreshTokens.start(transaction, consentId);
    });
  }
}
