import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { labelRequest, type HttpRequest } from '#src/http/index.js';
import {
  RegistryService,
  type Group,
  type RegistrySnapshot,
  type User,
} from '#src/registry/index.js';
import { CertificateUsers } from '../../access/certificate-users.js';
import { ClientAuthenticator } from '../../clients/client-authenticator.js';
import { CERTIFICATE_CLIENT } from '../../clients/built-in-clients.js';
import { ClientsService } from '../../clients/clients.service.js';
import { askedAudiences, refuseOthers } from '../../protocol/audience.js';
import { isAdmin, type GridScope } from '../../protocol/grid-scopes.js';
import { SenderConstraint } from '../../possession/sender-constraint.js';
import { ScopeGranter } from '../../bearer/scope-granter.js';
import { AccessTokens, applicationItself } from '../../bearer/access-token.js';
import type { GrantedTokens, GrantType } from './grant-type.js';
import { ClientCredentialsForm } from './grant.request.js';

/**
 * Flow A: the holder of a user certificate gets a token for one group and setup, which ends with the certificate at the
 * latest, for any service that they name; no refresh token. A limited proxy, which lies where jobs run, submits no jobs and administers nothing.
 * An application that is registered with scopes gets, by its own authentication, a token for itself (RFC 6749 §4.4).
 */
@Injectable()
export class ClientCredentialsGrant implements GrantType<ClientCredentialsForm> {
  readonly type = ClientCredentialsForm.grantType;

  constructor(
    private readonly certificates: CertificateUsers,
    private readonly registry: RegistryService,
    private readonly tokens: AccessTokens,
    private readonly granter: ScopeGranter,
    private readonly constraint: SenderConstraint,
    private readonly authenticator: ClientAuthenticator,
    private readonly clients: ClientsService,
  ) {}

  async issue(form: ClientCredentialsForm, request: HttpRequest): Promise<GrantedTokens> {
    const named = await this.authenticator.named(form, request);
    if (named?.scopes) return this.forApplication(form, request);
    if (named?.confidential && !(await this.certificates.certifiedIfAny(request))) {
      await this.authenticator.authenticate(form, request);
      const detail = 'This application is not registered for tokens of its own';
      throw new OAuthProblem('unauthorized_client', detail);
    }
    return this.forCertificate(form, request);
  }

  private async forCertificate(
    form: ClientCredentialsForm,
    request: HttpRequest,
  ): Promise<GrantedTokens> {
    const { group: groupName, setup } = form;
    if (groupName === undefined) throw missing('group');
    if (setup === undefined) throw missing('setup');
    const { user, notAfter, isLimited } = await this.certificates.certified(request);
    const confirmation = await this.constraint.of(undefined, request);
    labelRequest(request, { user: user.name }); // also where the rest is refused
    const group = permittedGroup(await this.registry.current(), { user, groupName, setup });
    const audiences = askedAudiences(form);
    const granted = await this.granter.grant({
      user,
      group,
      asked: form.scope,
      isRefused: (scope) => isLimited && isNotForJobs(scope),
    });
    labelRequest(request, { group: group.name, setup });
    const minted = await this.tokens.mint({
      user,
      group: group.name,
      setup,
      clientId: CERTIFICATE_CLIENT,
      ...granted,
      ...(audiences && { audiences }),
      notAfter,
      confirmation,
    });
    return { minted };
  }

  private async forApplication(
    form: ClientCredentialsForm,
    request: HttpRequest,
  ): Promise<GrantedTokens> {
    const client = await this.authenticator.authenticate(form, request);
    const confirmation = await this.constraint.of(client, request);
    const registry = await this.registry.current();
    const group = registry.group(client.group ?? '');
    if (!group || !registry.isOfIssuer(group) || (form.group ?? group.name) !== group.name) {
      throw denied('group', 'yours');
    }
    const setups = registry.setups().filter(({ name }) => registry.mayUseSetup(group.name, name));
    const setup = form.setup ?? setups[0]?.name;
    if (!setups.some(({ name }) => name === setup) || setup === undefined) throw deniedSetup();
    const audiences = askedAudiences(form);
    if (audiences) refuseOthers(audiences, this.clients.audiencesOf(client));
    const user = applicationItself(client.id);
    const within = client.scopes?.join(' ') ?? '';
    const wish = { user, group, asked: form.scope, within, isRefused: isAdmin };
    const granted = await this.granter.grant(wish);
    labelRequest(request, { group: group.name, setup });
    const minted = await this.tokens.mint({
      user,
      group: group.name,
      setup,
      clientId: client.id,
      ...granted,
      ...(audiences && { audiences }),
      confirmation,
    });
    return { minted };
  }
}

/** A limited proxy lies where jobs run. */
function isNotForJobs(scope: GridScope): boolean {
  return isAdmin(scope) || (scope.kind === 'right' && scope.right === 'jobs:submit');
}

function missing(name: string): OAuthProblem {
  return new OAuthProblem('invalid_request', `The parameter ${name} is missing`);
}

/**
 * The group, when the user is a member and may use the setup with it. Throws 403 `access_denied` that says nothing
 * about groups of others: an unknown group answers like a group of somebody else.
 */
function permittedGroup(
  registry: RegistrySnapshot,
  choice: { user: User; groupName: string; setup: string },
): Group {
  const group = registry.groupsOf(choice.user.name).find(({ name }) => name === choice.groupName);
  if (!group) throw denied('group', 'one of your groups');
  if (!registry.mayUseSetup(group.name, choice.setup)) throw deniedSetup();
  return group;
}

function denied(what: string, whose: string): OAuthProblem {
  return new OAuthProblem('access_denied', `The ${what} is not ${whose}`, { status: 403 });
}

function deniedSetup(): OAuthProblem {
  return denied('setup', 'one that this group may use');
}
