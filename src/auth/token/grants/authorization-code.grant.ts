import { Inject, Injectable } from '@nestjs/common';
import { sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { Database } from '#src/database/index.js';
import { labelRequest, type HttpRequest } from '#src/http/index.js';
import { AuthorizationCodesRepository } from '../../stores/authorization-codes.repository.js';
import type { AuthorizationCodeEntity } from '../../stores/authorization-code.entity.js';
import type { ConsentEntity } from '../../stores/consent.entity.js';
import { ConsentsService } from '../../stores/consents.service.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import type { Client } from '#src/registry/index.js';
import { dpopKeyOf } from '../../possession/confirmation.js';
import { boundKey } from '../../stores/refresh-rotation.js';
import { TokenCallers } from './token-callers.js';
import { TokenIssuer } from './token-issuer.js';
import { mayRefresh } from '../../protocol/identity-scopes.js';
import { invalidGrant } from '../../protocol/oauth-errors.js';
import { isBoundTo } from './code-binding.js';
import type { GrantedTokens, GrantType } from './grant-type.js';
import { AuthorizationCodeForm } from './grant.request.js';

const WHAT = 'code';

/** Flow B, second half: the code of the redirect becomes an access token and a refresh token. */
@Injectable()
export class AuthorizationCodeGrant implements GrantType<AuthorizationCodeForm> {
  readonly type = AuthorizationCodeForm.grantType;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly callers: TokenCallers,
    private readonly codes: AuthorizationCodesRepository,
    private readonly consents: ConsentsService,
    private readonly refreshTokens: RefreshTokensService,
    private readonly issuer: TokenIssuer,
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  async issue(form: AuthorizationCodeForm, request: HttpRequest): Promise<GrantedTokens> {
    const { client, confirmation } = await this.callers.authenticate(form, request);
    const stored = await this.codes.find(sha256(form.code));
    const consent = stored && (await this.consents.find(stored.consentId));
    if (!consent || consent.clientId !== client.id) throw invalidGrant(WHAT);
    const sent = { form, client, now: this.clock.now() };
    if (!isBoundTo(stored, sent)) throw invalidGrant(WHAT);
    if (stored.usedAt) {
      // RFC 6749 §4.1.2: somebody has the code who should not; what came from it is not safe any more
      await this.consents.revoke(consent.id);
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
    const key = dpopKeyOf(confirmation);
    if (stored.dpopKey !== null && stored.dpopKey !== key) throw invalidGrant(WHAT);
    const { scope, audience, resource } = form;
    const nonce = stored.nonce ?? undefined;
    const wish = { scope, audience, resource, nonce, confirmation };
    const minted = await this.issuer.forConsent(consent, wish);
    const refreshToken = await this.consume(stored, { consent, client, key });
    return { minted, extras: { refreshToken } };
  }

  private async consume(
    stored: AuthorizationCodeEntity,
    use: { consent: ConsentEntity; client: Client; key: string | undefined },
  ): Promise<string | undefined> {
    const { id, scope } = use.consent;
    return this.database.transaction(async (transaction) => {
      const isFirst = await this.codes.consume(
        transaction,
        stored.hash,
        new Date(this.clock.now()),
      );
      if (!isFirst) throw invalidGrant(WHAT); // another exchange at the same moment was first
      await this.consents.touch(transaction, id);
      if (!mayRefresh(scope)) return undefined;
      return this.refreshTokens.start(transaction, id, boundKey(use.client, use.key));
    });
  }
}
