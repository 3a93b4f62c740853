import { OAuthProblem } from '#src/kernel/index.js';
import { DEMO_REGISTRY, RegistrySnapshot, type RegistryService } from '#src/registry/index.js';
import type { ConsentEntity } from '../../stores/consent.entity.js';
import type { AccessTokenInput, AccessTokens } from '../../bearer/access-token.js';
import { TokenIssuer } from './token-issuer.js';

const registry = new RegistrySnapshot(DEMO_REGISTRY, 1);
const CONSENT: ConsentEntity = {
  id: 'grant-1',
  user: 'alice',
  clientId: 'demo-portal',
  group: 'grid_user',
  setup: 'Prod',
  scope: 'jobs:read jobs:kill catalogue:read',
  createdAt: new Date(0),
  usedAt: new Date(0),
  expiresAt: new Date(0),
  revokedAt: null,
};

/** What the issuer would sign. */
async function issued(change: Partial<ConsentEntity>, asked?: string): Promise<unknown> {
  const minted = { mint: (input: AccessTokenInput) => Promise.resolve(input) };
  const service = { current: () => Promise.resolve(registry) };
  const issuer = new TokenIssuer(
    service as unknown as RegistryService,
    minted as unknown as AccessTokens,
  );
  try {
    return await issuer.forConsent({ ...CONSENT, ...change }, asked);
  } catch (error) {
    if (error instanceof OAuthProblem) return [error.status, error.error, error.detail];
    throw error;
  }
}

describe('access tokens of a consent', () => {
  const grant = {
    user: 'alice',
    group: 'grid_user',
    setup: 'Prod',
    clientId: 'demo-portal',
    consentId: 'grant-1',
  };

  it.each([
    [undefined, ['jobs:read', 'jobs:kill', 'catalogue:read']],
    ['', ['jobs:read', 'jobs:kill', 'catalogue:read']],
    ['  ', ['jobs:read', 'jobs:kill', 'catalogue:read']],
    ['jobs:kill  jobs:submit', ['jobs:kill']],
  ])('asked for %j have the scopes %j', async (asked, scopes) => {
    expect(await issued({}, asked)).toEqual({ ...grant, scopes });
  });

  it('have only what the group allows now', async () => {
    const consent = { user: 'mona', group: 'grid_mon' };
    expect(await issued(consent)).toEqual({
      ...grant,
      ...consent,
      scopes: ['jobs:read', 'catalogue:read'],
    });
  });

  it('are refused when nothing is left of what was asked', async () => {
    const refusal = [
      400,
      'invalid_scope',
      'The group allows none of the scopes that were asked for',
    ];
    expect(await issued({}, 'jobs:submit')).toEqual(refusal);
    expect(await issued({ scope: '' })).toEqual(refusal);
  });

  it.each([{ group: 'grid_mon' }, { user: 'zoe' }, { setup: 'Other' }, { clientId: 'gone' }])(
    'are refused to %j, which the registry does not have together',
    async (change) => {
      expect(await issued(change)).toEqual([
        400,
        'invalid_grant',
        'The authorization is unknown, expired, used or not yours',
      ]);
    },
  );
});
