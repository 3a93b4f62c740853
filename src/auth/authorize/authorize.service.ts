import { Inject, Injectable } from '@nestjs/common';
import { randomToken, sha256, type Clock } from '#src/kernel/index.js';
import {
  CLOCK,
  CONFIG,
  Database,
  queryValuesOf,
  type Config,
  type HttpRequest,
  type QueryValues,
} from '#src/platform/index.js';
import { RegistryService, type User } from '#src/registry/index.js';
import { ClientsService } from '../clients/clients.service.js';
import { withParameters } from '../protocol/redirect-uri.js';
import { ConsentsService } from '../stores/consents.service.js';
import { consentChoices, type ConsentChoices } from '../sign-in/pages/consent-form.js';
import { AuthorizationCodesRepository } from '../stores/authorization-codes.repository.js';
import {
  AuthorizationError,
  only,
  UnprovedRequestError,
  type AuthorizationRequest,
} from './authorization-request.js';
import { provedRedirect, STEPS } from './authorize.steps.js';

/** What the user has chosen on the consent page. */
export interface ConsentChoice {
  group: string | undefined;
  setup: string | undefined;
}

/** Flow B, first half: checks of the request, the user's choice, and the code. */
@Injectable()
export class AuthorizeService {
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(CONFIG) private readonly config!: Config;
  @Inject() private readonly registry!: RegistryService;

  constructor(
    private readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly codes: AuthorizationCodesRepository,
    private readonly database: Database,
  ) {}

  /**
   * The checked request, or the redirect that tells the application what is wrong with it. Throws
   * UnprovedRequestError when client or redirect URI are wrong: then there is nowhere to redirect to.
   */
  async check(request: HttpRequest): Promise<AuthorizationRequest | { errorRedirect: string }> {
    const query = queryValuesOf(request);
    const clientId = only(query, 'client_id');
    const client = clientId === undefined ? undefined : await this.clients.find(clientId);
    if (!client) throw new UnprovedRequestError('The application (client_id) is not known.');
    const asked: AuthorizationRequest = {
      client,
      ...provedRedirect(query, client),
      state: stateOf(query),
      scope: only(query, 'scope'),
      codeChallenge: only(query, 'code_challenge'),
      group: only(query, 'group'),
      setup: only(query, 'setup'),
    };
    try {
      for (const step of STEPS) step.check(query, this.config);
      return asked;
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      return { errorRedirect: this.errorRedirect(asked, error) };
    }
  }

  /** What the user may choose; the redirect of an error when there is nothing. */
  async choices(
    asked: AuthorizationRequest,
    user: User,
    chosen: Partial<ConsentChoice> = {},
  ): Promise<ConsentChoices | { errorRedirect: string }> {
    const registry = await this.registry.current();
    const group = chosen.group ?? asked.group;
    const setup = chosen.setup ?? asked.setup;
    const choices = consentChoices(registry, user, { scope: asked.scope, group, setup });
    if (choices.groups.length > 0) return choices;
    const error = consentChoices(registry, user, {}).groups.length
      ? new AuthorizationError('invalid_scope', 'no group of the user allows any of the scopes')
      : new AuthorizationError('access_denied', 'the user has no group that may use the service');
    return { errorRedirect: this.errorRedirect(asked, error) };
  }

  /** The redirect with the code; undefined when group or setup are not among the user's choices. */
  async allow(
    asked: AuthorizationRequest,
    user: User,
    choice: ConsentChoice,
  ): Promise<string | undefined> {
    const registry = await this.registry.current();
    const { groups } = consentChoices(registry, user, { scope: asked.scope });
    const chosen = groups.find(({ group }) => group.name === choice.group);
    const { setup } = choice;
    if (!chosen || setup === undefined) return undefined;
    if (!registry.mayUseSetup(chosen.group.name, setup)) return undefined;
    const code = await this.database.transaction(async (transaction) => {
      const consent = await this.consents.record(
        {
          user: user.name,
          clientId: asked.client.id,
          group: chosen.group.name,
          setup,
          scopes: chosen.scopes,
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
        expiresAt: new Date(this.clock.now() + this.config.codeTtl * 1000),
        usedAt: null,
      });
      return value;
    });
    const { state } = asked;
    return withParameters(asked.redirectUri, { code, state, iss: this.config.publicUrl });
  }

  /** The redirect that says that the user has refused. */
  deny(asked: AuthorizationRequest): string {
    const error = new AuthorizationError('access_denied', 'the user has refused');
    return this.errorRedirect(asked, error);
  }

  private errorRedirect(asked: AuthorizationRequest, { error, description }: AuthorizationError) {
    return withParameters(asked.redirectUri, {
      error,
      error_description: description,
      state: asked.state,
      iss: this.config.publicUrl, // RFC 9207: also in errors, against mix-up
    });
  }
}

/** As it was sent, also when it is empty (RFC 6749 §4.1.2); none when it is given more than once. */
function stateOf(query: QueryValues): string | undefined {
  const [state, ...more] = query.all('state');
  return more.length === 0 ? state : undefined;
}
