import { Inject, Injectable } from '@nestjs/common';
import { randomToken, sha256, type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { RegistryService, type Client, type User } from '#src/registry/index.js';
import { isKnownClient } from '../bearer/principal.js';
import type { Authentication } from '../protocol/authentication.js';
import { isAdmin, readScopes, scopeWords } from '../protocol/grid-scopes.js';
import { withParameters } from '../protocol/redirect-uri.js';
import { consentChoices, type ConsentChoices } from '../sign-in/pages/consent-form.js';
import { AuthorizationCodesRepository } from '../stores/authorization-codes.repository.js';
import { ConsentsService } from '../stores/consents.service.js';
import { PushedRequestsRepository } from '../stores/pushed-requests.repository.js';
import { AuthorizationError } from './authorization-error.js';
import { UnprovedRequestError, type AuthorizationRequest } from './authorization-request.js';

/** What the user has chosen on the consent page. */
export interface ConsentChoice {
  group: string | undefined;
  setup: string | undefined;
}

/** Who allows it, and how they have signed in. */
export interface Giver {
  user: User;
  authentication: Authentication | undefined;
}

/** What the user may decide about a checked request, and the code that follows from it. */
@Injectable()
export class AuthorizeDecisions {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    private readonly registry: RegistryService,
    private readonly consents: ConsentsService,
    private readonly codes: AuthorizationCodesRepository,
    private readonly pushedRequests: PushedRequestsRepository,
    private readonly database: Database,
  ) {}

  /** What the user may choose. Throws AuthorizationError when there is nothing. */
  async choices(
    asked: AuthorizationRequest,
    user: User,
    chosen: Partial<ConsentChoice> = {},
  ): Promise<ConsentChoices> {
    const registry = await this.registry.current();
    const group = chosen.group ?? asked.group;
    const setup = chosen.setup ?? asked.setup;
    const choices = consentChoices(registry, user, { scope: asked.scope, group, setup });
    if (choices.groups.length > 0) return choices;
    throw consentChoices(registry, user, {}).groups.length
      ? new AuthorizationError('invalid_scope', 'no group of the user allows any of the scopes')
      : new AuthorizationError('access_denied', 'the user has no group that may use the service');
  }

  /** The redirect with the code; undefined when group or setup are not among the user's choices. */
  async allow(
    asked: AuthorizationRequest,
    { user, authentication }: Giver,
    choice: ConsentChoice,
  ): Promise<string | undefined> {
    const registry = await this.registry.current();
    const { groups, identity } = consentChoices(registry, user, { scope: asked.scope });
    const chosen = groups.find(({ group }) => group.name === choice.group);
    const { setup } = choice;
    if (!chosen || setup === undefined) return undefined;
    if (!registry.mayUseSetup(chosen.group.name, setup)) return undefined;
    const code = await this.database.transaction(async (transaction) => {
      await this.consumePushed(asked, transaction);
      const consent = await this.consents.record(
        {
          user,
          clientId: asked.client.id,
          group: chosen.group.name,
          setup,
          scopes: [...chosen.scopes, ...identity],
          audience: asked.audience,
          ...(authentication && { authentication }),
        },
        this.config.codeTtl,
        transaction,
      );
      const value = randomToken();
      await this.codes.add(transaction, {
        hash: sha256(value),
        consentId: consent.id,
        redirectUri: asked.sentRedirectUri,
        codeChallenge: asked.codeChallenge ?? null,
        dpopKey: asked.dpopKey ?? null,
        nonce: asked.nonce ?? null,
        expiresAt: new Date(this.clock.now() + this.codeSeconds(asked.client) * 1000),
        usedAt: null,
      });
      return value;
    });
    const { state } = asked;
    return withParameters(asked.redirectUri, { code, state, iss: this.config.publicUrl });
  }

  /**
   * The redirect with the code without asking: the user has allowed this application as much before, and it is surely the
   * same one (RFC 8252 §8.6). Undefined where the user has to be asked, as about administration each time.
   */
  async allowAgain(asked: AuthorizationRequest, giver: Giver): Promise<string | undefined> {
    if (!isSurelyItself(asked)) return undefined;
    const { user } = giver;
    const registry = await this.registry.current();
    if (readScopes(scopeWords(asked.scope) ?? []).some(isAdmin)) return undefined;
    const { groups, identity } = consentChoices(registry, user, { scope: asked.scope });
    const consents = await this.consents.lately(user.name, asked.client.id);
    const covering = consents.find((consent) => {
      const chosen = groups.find(({ group }) => group.name === consent.group);
      const given = consent.scope.split(' ');
      return (
        chosen !== undefined &&
        consent.sub === user.sub &&
        isKnownClient(consent.clientId, registry, secondsOf(consent.createdAt)) &&
        registry.isMember(user.name, consent.group, secondsOf(consent.createdAt)) &&
        isWithin(asked.audience, consent.audience) &&
        (asked.group ?? consent.group) === consent.group &&
        (asked.setup ?? consent.setup) === consent.setup &&
        [...chosen.scopes, ...identity].every((scope) => given.includes(scope))
      );
    });
    return covering && this.allow(asked, giver, covering);
  }

  /** Notes that the user has refused; a pushed request is good for one decision. */
  async deny(asked: AuthorizationRequest): Promise<void> {
    if (asked.pushed === undefined) return;
    await this.database.transaction((transaction) => this.consumePushed(asked, transaction));
  }

  private async consumePushed(
    { pushed }: AuthorizationRequest,
    transaction: Transaction,
  ): Promise<void> {
    if (pushed === undefined || (await this.pushedRequests.consume(transaction, pushed))) return;
    throw new UnprovedRequestError('request_uri has been used.');
  }

  /** FAPI 2.0 Security Profile 5.3.2.1: codes live 60 seconds at most. */
  private codeSeconds({ profile }: Client): number {
    return profile === 'fapi2' ? Math.min(this.config.codeTtl, 60) : this.config.codeTtl;
  }
}

/** Whether the services that are asked for are among those of the consent; none named are all that the application may have. */
function isWithin(asked: readonly string[] | undefined, given: readonly string[] | null): boolean {
  return given === null || (asked?.every((one) => given.includes(one)) ?? false);
}

/** An application that proves itself, or to whose address nobody else can be sent. */
function isSurelyItself({ client, redirectUri }: AuthorizationRequest): boolean {
  return client.confidential || redirectUri.startsWith('https:');
}

/** Seconds since 1970. */
function secondsOf(time: Date): number {
  return time.getTime() / 1000;
}
