import { Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { labelRequest } from '#src/platform/index.js';
import {
  RegistryService,
  type Group,
  type RegistrySnapshot,
  type User,
} from '#src/registry/index.js';
import { CertificateUsers } from '../../access/certificate-users.js';
import { CERTIFICATE_CLIENT } from '../../clients/built-in-clients.js';
import { narrowScopes } from '../../protocol/scopes.js';
import { AccessTokens } from '../../bearer/access-token.js';
import { nothingLeft } from '../../protocol/oauth-errors.js';
import { TokenResponse } from './token.response.js';
import type { GrantType, TokenRequest } from './grant-type.js';

/**
 * Flow A: the holder of a user certificate gets a token for one group and setup, which ends with the certificate at the
 * latest; no refresh token. A limited proxy, which lies where jobs run, submits no jobs (ADR 0350).
 */
@Injectable()
export class ClientCredentialsGrant implements GrantType {
  readonly type = 'client_credentials';

  constructor(
    private readonly certificates: CertificateUsers,
    private readonly registry: RegistryService,
    private readonly tokens: AccessTokens,
  ) {}

  async issue({ parameters, request }: TokenRequest): Promise<TokenResponse> {
    const groupName = parameters.required('group');
    const setup = parameters.required('setup');
    const { user, notAfter, isLimited } = await this.certificates.certified(request);
    labelRequest(request, { user: user.name }); // also where the rest is refused
    const group = permittedGroup(await this.registry.current(), { user, groupName, setup });
    const scopes = narrowScopes(group, parameters.optional('scope')).filter(
      (scope) => !isLimited || scope !== 'jobs:submit',
    );
    if (scopes.length === 0) throw nothingLeft();
    labelRequest(request, { group: group.name, setup });
    const minted = await this.tokens.mint({
      user: user.name,
      group: group.name,
      setup,
      clientId: CERTIFICATE_CLIENT,
      scopes,
      notAfter,
    });
    return TokenResponse.from(minted);
  }
}

/**
 * The group, when the user is a member and may use the setup with it. Throws 403 `access_denied` that says nothing
 * about groups of others: an unknown group answers like a group of somebody else.
 */
export function permittedGroup(
  registry: RegistrySnapshot,
  choice: { user: User; groupName: string; setup: string },
): Group {
  const group = registry.groupsOf(choice.user.name).find(({ name }) => name === choice.groupName);
  if (!group) {
    throw new OAuthProblem('access_denied', 'The group is not one of your groups', { status: 403 });
  }
  if (!registry.mayUseSetup(group.name, choice.setup)) {
    throw new OAuthProblem('access_denied', 'The setup is not one that this group may use', {
      status: 403,
    });
  }
  return group;
}
