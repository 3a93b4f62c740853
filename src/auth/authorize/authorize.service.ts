import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import type { Client } from '#src/registry/index.js';
import { IdTokens } from '../bearer/id-token.js';
import { isBuiltIn } from '../clients/built-in-clients.js';
import { demandsPkce } from '../protocol/client-profile.js';
import { ClientsService } from '../clients/clients.service.js';
import { withParameters } from '../protocol/redirect-uri.js';
import { AuthorizationError } from './authorization-error.js';
import {
  UnprovedRequestError,
  type AuthorizationRequest,
  type ProvedRequest,
} from './authorization-request.js';
import { readPrompt, type SignInDemand } from './sign-in-demand.js';
import {
  checkedAudience,
  checkPkce,
  checkPushed,
  checkScope,
  provedRedirect,
} from './authorize.steps.js';
import type { AuthorizationQuery, AuthorizationTarget } from './authorize.request.js';

/** Flow B, first half: checks of the request, and the answer to a wrong one. */
@Injectable()
export class AuthorizeService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly clients: ClientsService,
    private readonly idTokens: IdTokens,
  ) {}

  /**
   * Who asks, and where the answer goes. Throws UnprovedRequestError when client or redirect URI are wrong: then there is
   * nowhere to redirect to.
   */
  async prove(target: AuthorizationTarget): Promise<ProvedRequest> {
    const { client_id: clientId, state } = target;
    const client = clientId === undefined ? undefined : await this.clients.find(clientId);
    if (!client) throw new UnprovedRequestError('The application (client_id) is not known.');
    return { client, ...provedRedirect(target, client), state };
  }

  /** The checked request. Throws AuthorizationError. */
  async check(proved: ProvedRequest, query: AuthorizationQuery): Promise<AuthorizationRequest> {
    const { client } = proved;
    checkPushed(proved);
    const isRequired = demandsPkce(client, this.config.requirePkce) || isBuiltIn(client.id);
    checkPkce(query, { isRequired });
    checkScope(query);
    const { scope, code_challenge: codeChallenge, dpop_jkt: dpopKey, nonce, group, setup } = query;
    const audience = checkedAudience(query, this.clients.audiencesOf(client));
    const demand: SignInDemand = {
      ...readPrompt(query.prompt),
      maxAgeSeconds: query.max_age,
      loginHint: query.login_hint,
      subject: await this.hintedSubject(query.id_token_hint, client),
    };
    return { ...proved, scope, codeChallenge, dpopKey, audience, nonce, demand, group, setup };
  }

  /** Whom the hint names. Throws AuthorizationError for one that we have not given to this application. */
  private async hintedSubject(
    hint: string | undefined,
    client: Client,
  ): Promise<string | undefined> {
    if (hint === undefined) return undefined;
    const read = await this.idTokens.read(hint);
    if (read?.aud === client.id) return read.sub;
    throw new AuthorizationError(
      'invalid_request',
      'id_token_hint is no ID token of this application',
    );
  }

  /** The redirect that tells the application what is wrong. */
  errorRedirect(asked: ProvedRequest, { error, description }: AuthorizationError): string {
    return withParameters(asked.redirectUri, {
      error,
      error_description: description,
      state: asked.state,
      iss: this.config.publicUrl, // RFC 9207: also in errors, against mix-up
    });
  }
}
