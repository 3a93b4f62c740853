import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem, sha256, type Clock, type OAuthErrorCode } from '#src/kernel/index.js';
import { CLOCK, Database, labelRequest, type Transaction } from '#src/platform/index.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import { ConsentsRepository } from '../../consents/consents.repository.js';
import { ConsentsService } from '../../consents/consents.service.js';
import {
  DeviceAuthorizationsRepository,
  type DeviceAuthorization,
} from '../../device/device-authorizations.repository.js';
import { RefreshTokensService } from '../refresh-tokens.service.js';
import { invalidGrant, TokenIssuer } from '../token-issuer.js';
import { TokenResponse } from '../token.response.js';
import type { Grant, TokenRequest } from './grant.js';

const WHAT = 'device code';
const SLOWER_SECONDS = 5;
// Timers of honest devices are never exact.
const TOLERANCE_MS = 500;

type Poll = { problem: OAuthProblem } | { user: string; tokens: TokenResponse };

/** The device asks whether its user has decided (RFC 8628 §3.4, §3.5). */
@Injectable()
export class DeviceCodeGrant implements Grant {
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
    const application = await this.clients.authenticate(parameters, request);
    // A refusal is an outcome here, not an exception: the poll that it counts must be committed.
    const outcome = await this.database.transaction(async (transaction): Promise<Poll> => {
      const device = await this.devices.lock(transaction, sha256(code));
      if (!device || device.clientId !== application.id) return { problem: invalidGrant(WHAT) };
      if (device.status === 'pending') return { problem: await this.wait(transaction, device) };
      return this.conclude(transaction, device);
    });
    if ('problem' in outcome) throw outcome.problem;
    const { group, setup } = outcome.tokens;
    labelRequest(request, { user: outcome.user, group, setup });
    return outcome.tokens;
  }

  private async wait(transaction: Transaction, device: DeviceAuthorization): Promise<OAuthProblem> {
    const now = this.clock.now();
    if (device.expiresAt.getTime() <= now)
      return problem('expired_token', 'The codes have expired');
    const earliest =
      device.polledAt === null
        ? -Infinity
        : device.polledAt.getTime() + device.intervalSeconds * 1000 - TOLERANCE_MS;
    const isTooFast = now < earliest;
    const intervalSeconds = device.intervalSeconds + (isTooFast ? SLOWER_SECONDS : 0);
    const poll = { at: new Date(now), intervalSeconds };
    await this.devices.notePoll(transaction, device.deviceCodeHash, poll);
    return isTooFast
      ? problem('slow_down', `Ask every ${intervalSeconds} seconds`)
      : problem('authorization_pending', 'The user has not decided yet');
  }

  private async conclude(transaction: Transaction, device: DeviceAuthorization): Promise<Poll> {
    if (device.status === 'denied') {
      return { problem: problem('access_denied', 'The user has refused') };
    }
    const isExpired = device.expiresAt.getTime() <= this.clock.now();
    if (device.status !== 'allowed' || device.consentId === null || isExpired) {
      return {
        problem: isExpired
          ? problem('expired_token', 'The codes have expired')
          : invalidGrant(WHAT),
      };
    }
    const consent = await this.consents.find(device.consentId, transaction);
    if (!consent || consent.revokedAt) return { problem: invalidGrant(WHAT) };
    const minted = await this.issuer.forConsent(consent);
    await this.devices.markUsed(transaction, device.deviceCodeHash);
    await this.consentsService.touch(transaction, consent.id);
    const refreshToken = await this.refreshTokens.start(transaction, consent.id);
    return { user: consent.user, tokens: TokenResponse.from(minted, { refreshToken }) };
  }
}

function problem(error: OAuthErrorCode, description: string): OAuthProblem {
  return new OAuthProblem(error, description);
}
