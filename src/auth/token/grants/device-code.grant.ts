import { Inject, Injectable } from '@nestjs/common';
import { sha256, type Clock, type OAuthProblem } from '#src/kernel/index.js';
import { CLOCK, Database, labelRequest, type Transaction } from '#src/platform/index.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import { ConsentsRepository } from '../../stores/consents.repository.js';
import { ConsentsService } from '../../stores/consents.service.js';
import { DeviceAuthorizationsRepository } from '../../stores/device-authorizations.repository.js';
import type { DeviceAuthorizationEntity } from '../../stores/device-authorization.entity.js';
import { RefreshTokensService } from '../../stores/refresh-tokens.service.js';
import { TokenIssuer } from './token-issuer.js';
import { TokenResponse } from './token.response.js';
import { badDeviceCode, refusalOf } from './device-poll.js';
import type { GrantType, TokenRequest } from './grant-type.js';

type Poll = { problem: OAuthProblem } | { user: string; tokens: TokenResponse };

/** The device asks whether its user has decided (RFC 8628 §3.4, §3.5). */
@Injectable()
export class DeviceCodeGrant implements GrantType {
  readonly type = 'urn:ietf:params:oauth:grant-type:device_code';

  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject() private readonly database!: Database;
  @Inject() private readonly refreshTokens!: RefreshTokensService;
  @Inject() private readonly consents!: ConsentsRepository;
  @Inject() private readonly consentsService!: ConsentsService;

  constructor(
    private readonly clients: ClientAuthenticator,
    private readonly devices: DeviceAuthorizationsRepository,
    private readonly issuer: TokenIssuer,
  ) {}

  async issue({ parameters, request }: TokenRequest): Promise<TokenResponse> {
    const code = parameters.required('device_code');
    const client = await this.clients.authenticate(parameters, request);
    // A refusal is an outcome here, not an exception: the poll that it counts must be committed.
    const outcome = await this.database.transaction(async (transaction): Promise<Poll> => {
      const device = await this.devices.lock(transaction, sha256(code));
      if (!device || device.clientId !== client.id) return { problem: badDeviceCode() };
      return this.answer(transaction, device);
    });
    if ('problem' in outcome) throw outcome.problem;
    const { group, setup } = outcome.tokens;
    labelRequest(request, { user: outcome.user, group, setup });
    return outcome.tokens;
  }

  private async answer(transaction: Transaction, device: DeviceAuthorizationEntity): Promise<Poll> {
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
    const minted = await this.issuer.forConsent(consent);
    await this.devices.markUsed(transaction, device.deviceCodeHash);
    await this.consentsService.touch(transaction, consent.id);
    const refreshToken = await this.refreshTokens.start(transaction, consent.id);
    return { user: consent.user, tokens: TokenResponse.from(minted, { refreshToken }) };
  }
}
