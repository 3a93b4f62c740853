import { OAuthProblem } from '#src/kernel/index.js';
import { labelsOf, QueryValues, readValues, type HttpRequest } from '#src/http/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type RegistryService,
  type User,
} from '#src/registry/index.js';
import type { ClientsService } from '../../clients/clients.service.js';
import type { ClientAuthenticator } from '../../clients/client-authenticator.js';
import type { SenderConstraint } from '../../possession/sender-constraint.js';
import type { AccessTokenInput, AccessTokens } from '../../bearer/access-token.js';
import { ScopeGranter } from '../../bearer/scope-granter.js';
import { ClientCredentialsGrant } from './client-credentials.grant.js';
import { ClientCredentialsForm } from './grant.request.js';

const registry = new RegistrySnapshot(
  {
    ...DEMO_REGISTRY,
    groups: [
      ...DEMO_REGISTRY.groups,
      {
        ...{ name: 'root', members: ['alice'], idpScopes: [] },
        properties: new Set(['NormalUser', 'ServiceAdministrator'] as const),
      },
    ],
    setups: [{ name: 'Prod' }, { name: 'Ops', groups: ['grid_adm'] }],
  },
  1,
);

const notAfter = new Date('2030-01-02T03:04:05Z');

/** What is minted for alice's certificate, or the refusal; and what the log says of the request. */
async function issued(
  sent: Record<string, string>,
  isLimited = false,
): Promise<{ answer: unknown; labels: object }> {
  let minted: AccessTokenInput | undefined;
  const grant = new ClientCredentialsGrant(
    {
      certified: () =>
        Promise.resolve({ user: registry.userByName('alice') as User, notAfter, isLimited }),
    } as never,
    { current: () => Promise.resolve(registry) } as unknown as RegistryService,
    {
      mint: (input: AccessTokenInput) => {
        minted = input;
        const { group, setup } = input;
        const claims = { scope: input.scopes.join(' '), group, setup };
        return Promise.resolve({ token: 't', expiresInSeconds: 600, claims });
      },
    } as unknown as AccessTokens,
    new ScopeGranter({ current: () => Promise.resolve(registry) } as unknown as RegistryService, {
      allowed: (_who, wishes) => Promise.resolve(wishes.map(({ path }) => path === '/vo')),
    }),
    { of: () => Promise.resolve(undefined) } as unknown as SenderConstraint,
    {
      named: () => Promise.resolve(undefined),
    } as unknown as ClientAuthenticator,
    {} as unknown as ClientsService,
  );
  expect(grant.type).toBe('client_credentials');
  const request = {} as HttpRequest;
  try {
    const query = new URLSearchParams({ ...sent, grant_type: grant.type }).toString();
    const form = readValues(ClientCredentialsForm, new QueryValues(query));
    const answer = await grant.issue(form, request);
    return { answer: [minted, answer], labels: labelsOf(request) };
  } catch (error) {
    if (!(error instanceof OAuthProblem)) throw error;
    return { answer: [error.status, error.error, error.detail], labels: labelsOf(request) };
  }
}

const asked = { group: 'grid_user', setup: 'Prod' };

describe('a token for a certificate', () => {
  it('is for the asked group and setup and ends with the certificate, without a way to renew it', async () => {
    const { answer, labels } = await issued({ ...asked, scope: 'jobs:read unknown' });
    expect(answer).toEqual([
      {
        user: registry.userByName('alice'),
        ...asked,
        clientId: 'certificate',
        scopes: ['jobs:read'],
        notAfter,
      },
      {
        minted: {
          token: 't',
          expiresInSeconds: 600,
          claims: { scope: 'jobs:read', ...asked },
        },
      },
    ]);
    expect(labels).toEqual({ user: 'alice', ...asked });
  });

  it('has all scopes of the group when none is asked', async () => {
    const { answer } = await issued(asked);
    const [minted] = answer as [AccessTokenInput];
    expect(minted.scopes).toEqual([
      ...['jobs:read', 'jobs:submit', 'jobs:kill', 'catalogue:read', 'catalogue:write', 'webhooks'],
    ]);
  });

  it('administers the service when that is asked for, but not by a limited proxy', async () => {
    const form = { group: 'root', setup: 'Prod', scope: 'admin jobs:read' };
    const scopes = async (isLimited: boolean): Promise<unknown> => {
      const { answer } = await issued(form, isLimited);
      return (answer as [AccessTokenInput])[0].scopes;
    };
    expect([await scopes(false), await scopes(true)]).toEqual([
      ['jobs:read', 'admin'],
      ['jobs:read'],
    ]);
  });

  it('is for the services that are named, with what the catalogue opens', async () => {
    const { answer } = await issued({
      ...asked,
      audience: 'https://storage.example',
      scope: 'storage.read:/vo storage.read:/other wlcg.groups',
    });
    const [minted] = answer as [AccessTokenInput];
    expect(minted).toMatchObject({
      audiences: ['https://storage.example'],
      scopes: ['storage.read:/vo', 'wlcg.groups'],
      groups: ['/vo/grid_user', '/vo'],
    });
    expect((await issued({ ...asked, resource: 'nonsense' })).answer).toEqual([
      ...[400, 'invalid_target', 'A resource is an absolute URI without a fragment'],
    ]);
    expect((await issued({ ...asked, audience: '*' })).answer).toEqual([
      ...[400, 'invalid_target', '* names no service'],
    ]);
  });

  it('submits no jobs when it is for a limited proxy', async () => {
    const { answer } = await issued(asked, true);
    const [minted] = answer as [AccessTokenInput];
    expect(minted.scopes).toEqual([
      'jobs:read',
      'jobs:kill',
      'catalogue:read',
      'catalogue:write',
      'webhooks',
    ]);
    expect((await issued({ ...asked, scope: 'jobs:submit compute.create' }, true)).answer).toEqual([
      ...[400, 'invalid_scope', 'The group allows none of the scopes that were asked for'],
    ]);
  });

  const notMember = [403, 'access_denied', 'The group is not one of your groups'];

  it.each([
    [{ ...asked, group: 'grid_adm' }, notMember],
    [{ ...asked, group: 'nothing' }, notMember],
    [
      { ...asked, setup: 'Ops' },
      [403, 'access_denied', 'The setup is not one that this group may use'],
    ],
    [
      { ...asked, setup: 'Nowhere' },
      [403, 'access_denied', 'The setup is not one that this group may use'],
    ],
    [
      { ...asked, scope: 'unknown' },
      [400, 'invalid_scope', 'The group allows none of the scopes that were asked for'],
    ],
  ])('is refused for %j, and the log says to whom', async (sent, expected) => {
    expect(await issued(sent)).toEqual({ answer: expected, labels: { user: 'alice' } });
  });

  it.each([
    [{ setup: 'Prod' }, 'The parameter group is missing'],
    [{ group: 'grid_user' }, 'The parameter setup is missing'],
  ])('is refused for %j before anybody is looked up', async (sent, detail) => {
    const answer = [400, 'invalid_request', detail];
    expect(await issued(sent as Record<string, string>)).toEqual({ answer, labels: {} });
  });
});
