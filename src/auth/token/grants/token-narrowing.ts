import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { labelRequest, type HttpRequest } from '#src/http/index.js';
import { RegistryService } from '#src/registry/index.js';
import {
  AccessTokens,
  applicationItself,
  isOfApplication,
  type AccessTokenClaims,
  type ActorClaim,
  type MintedToken,
} from '../../bearer/access-token.js';
import { SenderConstraint } from '../../possession/sender-constraint.js';
import { ScopeGranter } from '../../bearer/scope-granter.js';
import { CERTIFICATE_CLIENT } from '../../clients/built-in-clients.js';
import { ClientsService } from '../../clients/clients.service.js';
import { isAdmin, scopeWords } from '../../protocol/grid-scopes.js';
import { askedAudiences, narrowedAudiences } from '../../protocol/audience.js';
import type { TokenExchangeForm } from './grant.request.js';
import type { TokenCaller } from './token-callers.js';
import { VerifiedTokens } from '../../bearer/bearer-tokens.js';

/** A token that comes from one that comes from one …: its id holds all of theirs. */
const MAX_GENERATIONS = 10;

/** Who asks for a narrower token, and what the request proves. */
export interface ExchangeCall extends TokenCaller {
  request: HttpRequest;
}

/** Makes narrower access tokens of our own ones (RFC 8693). */
@Injectable()
export class TokenNarrowing {
  constructor(
    private readonly verified: VerifiedTokens,
    private readonly registry: RegistryService,
    private readonly constraint: SenderConstraint,
    private readonly clients: ClientsService,
    private readonly granter: ScopeGranter,
    private readonly tokens: AccessTokens,
  ) {}

  /**
   * A token for the application that is in nothing wider than the subject token: scopes, paths, groups, audiences, life. It
   * keeps its sender constraint or gains that of the request, names the application in `act`, and dies with it. Undefined when the subject token is not
   * a live one of ours. Throws 400 `invalid_request` for a token of somebody else's key or one that was exchanged too
   * often, `invalid_scope`, `invalid_target`, and 403 `access_denied` for another group or setup.
   */
  async narrow(
    form: TokenExchangeForm,
    { client, confirmation, request }: ExchangeCall,
  ): Promise<MintedToken | undefined> {
    const { subject_token: token } = form;
    const claims = await this.verified.claims(token);
    const holder = claims && (await this.verified.holder(token));
    if (!holder) return undefined;
    const { group: groupName, setup, cnf, jti, exp } = claims;
    if (!(await this.constraint.proves(cnf, request))) {
      throw refused('The subject_token is bound to a key that the request does not prove');
    }
    if (jti.split('.').length > MAX_GENERATIONS) {
      throw refused('The subject_token has been exchanged too often');
    }
    refuseOther('group', form.group, groupName);
    refuseOther('setup', form.setup, setup);
    const registry = await this.registry.current();
    const user = isOfApplication(claims)
      ? applicationItself(claims.sub)
      : registry.userByName(holder.user);
    const group = registry.group(groupName);
    if (!user || !group) return undefined;
    const possible = this.clients.audiencesOf(client);
    const audiences = narrowedAudiences(askedAudiences(form), {
      parent: [claims.aud].flat(),
      possible,
    });
    labelRequest(request, { user: user.name, group: groupName, setup });
    const asked = scopeWords(form.scope) ?? [];
    const granted = await this.granter.grant({
      user,
      group,
      asked: form.scope,
      within: claims.scope,
      withinGroups: claims['wlcg.groups'] ?? [],
      isRefused: (scope) => isAdmin(scope) && !asked.includes(scope.word),
    });
    return this.tokens.mint({
      ...granted,
      ...{ user, group: groupName, setup, audiences, clientId: client.id, parentId: jti },
      act: actorOf(client.id, claims),
      notAfter: new Date(exp * 1000),
      confirmation: cnf ?? confirmation,
    });
  }
}

/** The application, and the one that had the token before when that was another. */
function actorOf(clientId: string, { act, client_id: before }: AccessTokenClaims): ActorClaim {
  if (before === clientId && act) return act;
  if (before === clientId || before === CERTIFICATE_CLIENT) return { sub: clientId };
  return { sub: clientId, act: act ?? { sub: before } };
}

function refuseOther(what: string, asked: string | undefined, own: string): void {
  if (asked === undefined || asked === own) return;
  const detail = `The ${what} is not that of the subject_token`;
  throw new OAuthProblem('access_denied', detail, { status: 403 });
}

function refused(description: string): OAuthProblem {
  return new OAuthProblem('invalid_request', description);
}
