import { Inject, Injectable } from '@nestjs/common';
import { sha256, type Clock, type OAuthProblem, CLOCK } from '#src/kernel/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { labelRequest, type HttpRequest } from '#src/http/index.js';
import { ConsentsService } from '../../stores/consents.service.js';
import { DeviceAuthorizationsRepository } from '../../stores/device-authorizations.repository.js';
import type { DeviceAuthorizationEntity } from '../../stores/device-authorization.entity.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { mayRefresh } from '../../protocol/identity-scopes.js';
import { dpopKeyOf } from '../../possession/confirmation.js';
import { boundKey } from '../../stores/refresh-rotation.js';
import { TokenCallers, type TokenCaller } from './token-callers.js';
import { TokenIssuer } from './token-issuer.js';
import { badDeviceCode, refusalOf } from './device-poll.js';
import type { GrantedTokens, GrantType } from './grant-type.js';
import { DeviceCodeForm } from './grant.request.js';

/** What a poll asks for, and what it is bound to. */
interface DeviceCall extends TokenCaller {
  form: DeviceCodeForm;
}

type Poll = { problem: OAuthProblem } | { user: string; tokens: GrantedTokens };

/** The device asks whether its user has decided (RFC 8628 §3.4, §3.5). */
@Injectable()
export class DeviceCodeGrant implements GrantType<DeviceCodeForm> {
  readonly type = DeviceCodeForm.grantType;

  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly callers: TokenCallers,
    private readonly devices: DeviceAuthorizationsRepository,
    private readonly consents: ConsentsService,
    private readonly refreshTokens: RefreshTokensService,
    private readonly issuer: TokenIssuer,
    private readonly database: Database,
  ) {}

  async issue(form: DeviceCodeForm, request: HttpRequest): Promise<GrantedTokens> {
    const { client, confirmation } = await this.callers.authenticate(form, request);
    // A refusal is an outcome here, not an exception: the poll that it counts must be committed.
    const outcome = await this.database.transaction(async (transaction): Promise<Poll> => {
      const device = await this.devices.lock(transaction, sha256(form.device_code));
      if (!device || device.clientId !== client.id) return { problem: badDeviceCode() };
      return this.answer(transaction, device, { form, client, confirmation });
    });
    if ('problem' in outcome) throw outcome.problem;
    const { group, setup } = outcome.tokens.minted.claims;
    labelRequest(request, { user: outcome.user, group, setup });
    return outcome.tokens;
  }

  private async answer(
    transaction: Transaction,
    device: DeviceAuthorizationEntity,
    { form, client, confirmation }: DeviceCall,
  ): Promise<Poll> {
    const now = this.clock.now();
    const refusal = refusalOf(device, now);
    if (refusal) {
      const { problem, intervalSeconds } = refusal;
      if (intervalSeconds !== undefined) {
        const poll = { polledAt: new Date(now), intervalSeconds };
        await this.devices.notePoll(transaction, device.deviceCodeHash, poll);
      }
      return { problem };
    }
    const { consentId } = device;
    const consent =
      consentId === null ? undefined : await this.consents.find(consentId, transaction);
    if (!consent || consent.revokedAt) return { problem: badDeviceCode() };
    const { audience, resource } = form;
    const minted = await this.issuer.forConsent(consent, { audience, resource, confirmation });
    await this.devices.markUsed(transaction, device.deviceCodeHash);
    await this.consents.touch(transaction, consent.id);
    const bond = boundKey(client, dpopKeyOf(confirmation));
    const refreshToken = mayRefresh(consent.scope)
      ? await this.refreshTokens.start(transaction, consent.id, bond)
      : undefined;
    return { user: consent.user, tokens: { minted, extras: { refreshToken } } };
  }
}
