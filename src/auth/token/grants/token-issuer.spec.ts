import { OAuthProblem } from '#src/kernel/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Client,
  type RegistryService,
} from '#src/registry/index.js';
import type { ConsentEntity } from '../../stores/consent.entity.js';
import type { AccessTokenInput, AccessTokens } from '../../bearer/access-token.js';
import type { IdTokens } from '../../bearer/id-token.js';
import { ScopeGranter } from '../../bearer/scope-granter.js';
import type { ClientsService } from '../../clients/clients.service.js';
import { TokenIssuer, type Wish } from './token-issuer.js';

const SERVICE = 'https://grid.example';
const registry = new RegistrySnapshot(
  {
    ...DEMO_REGISTRY,
    users: DEMO_REGISTRY.users.map((user) => ({ ...user, sub: `id-of-${user.name}` })),
    applications: DEMO_REGISTRY.applications.map((one) => ({ ...one, audiences: ['a', 'b'] })),
  },
  1,
);
const CONSENT: ConsentEntity = {
  id: 'grant-1',
  user: 'alice',
  clientId: 'demo-portal',
  group: 'grid_user',
  setup: 'Prod',
  scope: 'jobs:read jobs:kill catalogue:read',
  sub: null,
  audience: null,
  dpopKey: null,
  createdAt: new Date(0),
  usedAt: new Date(0),
  expiresAt: new Date(0),
  revokedAt: null,
  authTime: null,
  acr: null,
  sid: null,
};

/** What the issuer would sign. */
async function issued(
  change: Partial<ConsentEntity>,
  wish?: Wish,
  idToken?: string,
): Promise<unknown> {
  const idTokens = { mint: () => Promise.resolve(idToken) };
  const minted = { mint: (input: AccessTokenInput) => Promise.resolve(input) };
  const service = { current: () => Promise.resolve(registry) };
  const clients = {
    find: (id: string) => Promise.resolve(registry.client(id)),
    audiencesOf: ({ audiences = [] }: Client) => [SERVICE, ...audiences],
  };
  const storage = {
    allowed: (_who: unknown, wishes: readonly unknown[]) => Promise.resolve(wishes.map(() => true)),
  };
  const issuer = new TokenIssuer(
    service as unknown as RegistryService,
    minted as unknown as AccessTokens,
    idTokens as unknown as IdTokens,
    clients as unknown as ClientsService,
    new ScopeGranter(service as unknown as RegistryService, storage),
  );
  try {
    return await issuer.forConsent({ ...CONSENT, ...change }, wish);
  } catch (error) {
    if (error instanceof OAuthProblem) return [error.status, error.error, error.detail];
    throw error;
  }
}

describe('access tokens of a consent', () => {
  const grant = {
    user: registry.userByName('alice'),
    group: 'grid_user',
    setup: 'Prod',
    clientId: 'demo-portal',
    parentId: 'grant-1',
    audiences: [SERVICE],
  };

  it.each([
    [undefined, ['jobs:read', 'jobs:kill', 'catalogue:read']],
    ['', ['jobs:read', 'jobs:kill', 'catalogue:read']],
    ['  ', ['jobs:read', 'jobs:kill', 'catalogue:read']],
    ['jobs:kill  jobs:submit', ['jobs:kill']],
  ])('asked for %j have the scopes %j', async (scope, scopes) => {
    expect(await issued({}, { scope })).toEqual({ ...grant, scopes });
  });

  it('have what may be said of the user, whatever the group, and the ID token beside them', async () => {
    const consent = { user: 'mona', group: 'grid_mon', scope: 'openid email jobs:kill jobs:read' };
    expect(await issued(consent, undefined, 'an ID token')).toEqual({
      ...grant,
      user: registry.userByName('mona'),
      group: 'grid_mon',
      scopes: ['jobs:read', 'openid', 'email'],
      idToken: 'an ID token',
    });
    expect(await issued(consent, { scope: 'openid' })).toMatchObject({ scopes: ['openid'] });
  });

  it('have only what the group allows now', async () => {
    const consent = { user: 'mona', group: 'grid_mon' };
    expect(await issued(consent)).toEqual({
      ...grant,
      group: 'grid_mon',
      user: registry.userByName('mona'),
      scopes: ['jobs:read', 'catalogue:read'],
    });
  });

  it('are refused when nothing is left of what was asked', async () => {
    const refusal = [
      400,
      'invalid_scope',
      'The group allows none of the scopes that were asked for',
    ];
    expect(await issued({}, { scope: 'jobs:submit' })).toEqual(refusal);
    expect(await issued({ scope: '' })).toEqual(refusal);
  });

  it('are for the services that are asked for, within consent and application', async () => {
    const audiencesFor = async (audience: string[] | null, wish: Wish) => {
      const answer = await issued({ audience }, wish);
      return Array.isArray(answer) ? answer : (answer as AccessTokenInput).audiences;
    };
    expect(await audiencesFor(null, { audience: ['b', SERVICE, 'b', ''] })).toEqual(['b', SERVICE]);
    expect(await audiencesFor(['a', 'b'], {})).toEqual(['a', 'b']);
    expect(await audiencesFor(['a', 'b'], { audience: ['b'] })).toEqual(['b']);
    const refusal = (text: string) => [400, 'invalid_target', text];
    const others = refusal('The application may not ask for tokens for this audience');
    expect(await audiencesFor(null, { audience: ['c'] })).toEqual(others);
    expect(await audiencesFor(['a'], { audience: ['a', 'b'] })).toEqual(others);
    expect(await audiencesFor(['c'], {})).toEqual(others);
    expect(await audiencesFor(null, { resource: ['b'] })).toEqual(
      refusal('A resource is an absolute URI without a fragment'),
    );
  });

  it.each([
    { group: 'grid_mon' },
    { user: 'zoe' },
    { setup: 'Other' },
    { clientId: 'gone' },
    { sub: 'of somebody who had the name before' },
  ])('are refused to %j, which the registry does not have together', async (change) => {
    expect(await issued(change)).toEqual([
      400,
      'invalid_grant',
      'The authorization is unknown, expired, used or not yours',
    ]);
  });
});
