import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem, randomToken, sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database } from '#src/database/index.js';
import type { HttpRequest } from '#src/http/index.js';
import { RegistryService, type Client, type User } from '#src/registry/index.js';
import { ClientAuthenticator } from '../clients/client-authenticator.js';
import { ClientsService } from '../clients/clients.service.js';
import { ConsentsService } from '../stores/consents.service.js';
import type { Authentication } from '../protocol/authentication.js';
import { consentChoices, type ConsentChoices } from '../sign-in/pages/consent-form.js';
import { askedAudiences, refuseOthers } from '../protocol/audience.js';
import { readScopes, scopeWords } from '../protocol/grid-scopes.js';
import { DeviceAuthorizationsRepository } from '../stores/device-authorizations.repository.js';
import type { DeviceAuthorizationEntity } from '../stores/device-authorization.entity.js';
import type { DeviceForm } from './device.request.js';
import { DeviceResponse } from './device.response.js';
import { makeUserCode, readUserCode, showUserCode } from './user-code.js';

const INTERVAL_SECONDS = 5;

/** A device's request as its user sees it. */
export interface DeviceQuestion {
  device: DeviceAuthorizationEntity;
  client: Client;
  choices: ConsentChoices;
}

/** Device authorization (RFC 8628): codes for a device, and the decision of its user in a browser. */
@Injectable()
export class DeviceService {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly authenticator: ClientAuthenticator,
    private readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly devices: DeviceAuthorizationsRepository,
    private readonly database: Database,
    private readonly registry: RegistryService,
  ) {}

  /** A device code and a user code for the application of the request (RFC 8628 §3.1, §3.2). */
  async start(form: DeviceForm, request: HttpRequest): Promise<DeviceResponse> {
    const client = await this.authenticator.authenticate(form, request);
    const { scope } = form;
    const words = scopeWords(scope);
    const audience = askedAudiences(form);
    if (audience) refuseOthers(audience, this.clients.audiencesOf(client));
    if (words && readScopes(words).length === 0) {
      throw new OAuthProblem('invalid_scope', 'None of the scopes is known');
    }
    const deviceCode = randomToken();
    const userCode = await this.store({
      deviceCodeHash: sha256(deviceCode),
      clientId: client.id,
      scope: scope ?? null,
      group: form.group ?? null,
      setup: form.setup ?? null,
      audience: audience ?? null,
    });
    return this.answer(deviceCode, showUserCode(userCode));
  }

  /** What the user is asked for this code; undefined for a code that waits for nobody. */
  async question(typed: string, user: User): Promise<DeviceQuestion | undefined> {
    const device = await this.devices.pending(readUserCode(typed), new Date(this.clock.now()));
    const client = device && (await this.clients.find(device.clientId));
    if (!device || !client) return undefined;
    const asked = {
      scope: device.scope ?? undefined,
      group: device.group ?? undefined,
      setup: device.setup ?? undefined,
    };
    const choices = consentChoices(await this.registry.current(), user, asked);
    return { device, client, choices };
  }

  /** Lets the device in; false when group or setup are not among the choices or the code has ended. */
  async allow(
    question: DeviceQuestion,
    { user, authentication }: { user: User; authentication: Authentication | undefined },
    choice: { group: string | undefined; setup: string | undefined },
  ): Promise<boolean> {
    const { device, choices } = question;
    const chosen = choices.groups.find(({ group }) => group.name === choice.group);
    const { setup } = choice;
    const registry = await this.registry.current();
    if (!chosen || setup === undefined) return false;
    if (!registry.mayUseSetup(chosen.group.name, setup)) return false;
    return this.database.transaction(async (transaction) => {
      const consent = await this.consents.record(
        {
          user,
          clientId: device.clientId,
          group: chosen.group.name,
          setup,
          scopes: [...chosen.scopes, ...choices.identity],
          audience: device.audience ?? undefined,
          ...(authentication && { authentication }),
        },
        this.config.deviceCodeTtl,
        transaction,
      );
      const outcome = { status: 'allowed' as const, consentId: consent.id };
      return this.devices.decide(device.userCode, outcome, transaction);
    });
  }

  /** Turns the device away. */
  async deny({ device }: DeviceQuestion): Promise<void> {
    await this.devices.decide(device.userCode, { status: 'denied', consentId: null });
  }

  private async store(
    device: Pick<
      DeviceAuthorizationEntity,
      'deviceCodeHash' | 'clientId' | 'scope' | 'group' | 'setup' | 'audience'
    >,
  ): Promise<string> {
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const userCode = makeUserCode();
      const isAdded = await this.devices.add({
        ...device,
        userCode,
        consentId: null,
        status: 'pending',
        intervalSeconds: INTERVAL_SECONDS,
        polledAt: null,
        expiresAt: new Date(this.clock.now() + this.config.deviceCodeTtl * 1000),
      });
      if (isAdded) return userCode;
    }
    throw new OAuthProblem('temporarily_unavailable', 'No user code is free', {
      status: 503,
      retryAfterSeconds: 5,
    });
  }

  private answer(deviceCode: string, userCode: string): DeviceResponse {
    const page = `${this.config.publicUrl}/oauth2/device`;
    return {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${userCode}`,
      expires_in: this.config.deviceCodeTtl,
      interval: INTERVAL_SECONDS,
    };
  }
}
