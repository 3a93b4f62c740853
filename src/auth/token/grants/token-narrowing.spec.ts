import fc from 'fast-check';
import { OAuthProblem } from '#src/kernel/index.js';
import type { HttpRequest } from '#src/http/index.js';
import {
  DEMO_REGISTRY,
  RegistrySnapshot,
  type Client,
  type RegistryService,
} from '#src/registry/index.js';
import { runs, seed } from '../../../../test/support/counts.js';
import type {
  AccessTokenClaims,
  AccessTokenInput,
  AccessTokens,
} from '../../bearer/access-token.js';
import { ScopeGranter } from '../../bearer/scope-granter.js';
import type { StorageWish } from '../../bearer/storage-rights.js';
import type { ClientsService } from '../../clients/clients.service.js';
import type { TokenExchangeForm } from './grant.request.js';
import type { Confirmation } from '../../possession/confirmation.js';
import type { DpopRequests } from '../../possession/dpop-requests.js';
import { SenderConstraint } from '../../possession/sender-constraint.js';
import {
  GROUP_WORDS,
  isIn,
  JOBS,
  Judge,
  MAY,
  TREE,
  VERBS,
  type Chain,
  type Step,
} from './testing/exchange-judge.js';
import { TokenNarrowing } from './token-narrowing.js';
import type { PeerCertificates } from '../../possession/peer-certificates.js';
import type { VerifiedTokens } from '../../bearer/bearer-tokens.js';

const SERVICE = 'https://grid.example';
const ANY = 'https://wlcg.cern.ch/jwt/v1/any';
const app = (id: string, audiences: string[]): Client => ({
  ...{ id, name: id, redirectUris: [], confidential: false, origin: 'file', audiences },
});
const registry = new RegistrySnapshot(
  {
    ...DEMO_REGISTRY,
    users: DEMO_REGISTRY.users.map((user) => ({ ...user, sub: `id-of-${user.name}` })),
    groups: [
      ...DEMO_REGISTRY.groups,
      {
        ...{ name: 'files', vo: 'vo', members: [], idpScopes: [] },
        properties: new Set(['FileCatalogManagement'] as const),
      },
    ],
    applications: [app('a', ['x', 'y']), app('b', ['x']), app('every', ['*'])],
  },
  1,
);
const EXP = 2_000_000_000;
const CLAIMS: AccessTokenClaims = {
  ...{ iss: SERVICE, sub: 'id-of-alice', preferred_username: 'alice', aud: SERVICE, exp: EXP },
  ...{ iat: 0, jti: 'consent.first', client_id: 'a', group: 'grid_user', setup: 'Prod' },
  scope: 'jobs:read jobs:kill storage.read:/vo storage.modify:/vo/a wlcg.groups',
  'wlcg.groups': ['/vo/grid_user', '/vo'],
  'wlcg.ver': '1.0',
};

interface Asked {
  form?: Partial<TokenExchangeForm>;
  client?: string;
  claims?: Partial<AccessTokenClaims>;
  /** What the catalogue lets alice do. */
  mayOpen?: (wish: StorageWish) => boolean;
  thumbprint?: string;
  /** Of the DPoP proof. */
  key?: string;
  isAlive?: boolean;
}

/** What would be signed for the exchange, undefined for a token that is none of ours, or the refusal. */
async function narrowed(asked: Asked = {}): Promise<unknown> {
  const { form = {}, client = 'a', claims = {}, mayOpen = () => true, thumbprint, key } = asked;
  const current = { current: () => Promise.resolve(registry) } as unknown as RegistryService;
  const verified = {
    claims: (token: string) =>
      Promise.resolve(token === 'ours' ? { ...CLAIMS, ...claims } : undefined),
    holder: () => Promise.resolve(asked.isAlive === false ? undefined : { user: 'alice' }),
  };
  const narrowing = new TokenNarrowing(
    verified as unknown as VerifiedTokens,
    current,
    new SenderConstraint(
      { thumbprintOf: () => Promise.resolve(key) } as unknown as DpopRequests,
      { thumbprintOf: () => thumbprint } as unknown as PeerCertificates,
    ),
    { audiencesOf: ({ audiences = [] }: Client) => [SERVICE, ...audiences] } as ClientsService,
    new ScopeGranter(current, { allowed: (_who, wishes) => Promise.resolve(wishes.map(mayOpen)) }),
    { mint: (input: AccessTokenInput) => Promise.resolve(input) } as unknown as AccessTokens,
  );
  const all = { grant_type: '', subject_token: 'ours', subject_token_type: '', ...form };
  try {
    return await narrowing.narrow(all, {
      client: registry.client(client)!,
      confirmation: key === undefined ? undefined : { jkt: key },
      request: {} as HttpRequest,
    });
  } catch (error) {
    if (error instanceof OAuthProblem) return [error.status, error.error, error.detail];
    throw error;
  }
}

describe('a token that comes from another', () => {
  it('has all of the other when nothing is asked, ends with it, and names who acts', async () => {
    expect(await narrowed()).toEqual({
      user: registry.userByName('alice'),
      group: 'grid_user',
      setup: 'Prod',
      clientId: 'a',
      parentId: 'consent.first',
      audiences: [SERVICE],
      scopes: ['jobs:read', 'jobs:kill', 'storage.read:/vo', 'storage.modify:/vo/a', 'wlcg.groups'],
      groups: ['/vo/grid_user', '/vo'],
      act: { sub: 'a' },
      notAfter: new Date(EXP * 1000),
    });
  });

  it('is narrowed to what is asked and the other has', async () => {
    const scope =
      'jobs:submit compute.cancel storage.create:/vo/a/b storage.read:/vox storage.read:/';
    const form = { scope: `${scope} wlcg.groups:/vo/grid_share wlcg.groups:/vo` };
    expect(await narrowed({ form })).toMatchObject({
      scopes: ['compute.cancel', 'storage.create:/vo/a/b', 'wlcg.groups:/vo'],
      groups: ['/vo', '/vo/grid_user'],
    });
  });

  it('administers the service only when it says so', async () => {
    const claims = { group: 'grid_adm', scope: 'jobs:read admin' };
    expect(await narrowed({ claims })).toMatchObject({ scopes: ['jobs:read'] });
    const form = { scope: 'admin' };
    expect(await narrowed({ claims, form })).toMatchObject({ scopes: ['admin'] });
    expect(await narrowed({ claims: { group: 'grid_adm', scope: 'jobs:read' }, form })).toEqual([
      ...[400, 'invalid_scope', expect.any(String)],
    ]);
  });

  it('has what the catalogue opens now', async () => {
    const mayOpen = ({ path, right }: StorageWish) => right === 'read' && path === '/vo';
    const answer = await narrowed({
      mayOpen,
      form: { scope: 'storage.read:/vo storage.modify:/vo/a' },
    });
    expect(answer).toMatchObject({ scopes: ['storage.read:/vo'] });
  });

  it.each([
    [{ client_id: 'b' }, 'a', { sub: 'a', act: { sub: 'b' } }],
    [
      { client_id: 'b', act: { sub: 'b', act: { sub: 'c' } } },
      'a',
      { sub: 'a', act: { sub: 'b', act: { sub: 'c' } } },
    ],
    [{ act: { sub: 'a', act: { sub: 'b' } } }, 'a', { sub: 'a', act: { sub: 'b' } }],
    [{ client_id: 'certificate' }, 'a', { sub: 'a' }],
  ])('of %j to %s says who acts: %j', async (claims, client, act) => {
    expect(await narrowed({ claims, client })).toMatchObject({ act });
  });

  it.each<[string, string | string[], string[] | undefined, unknown]>([
    ['a', ['x', 'y'], undefined, ['x', 'y']],
    ['b', ['x', 'y'], undefined, ['x']],
    ['a', ['x', 'y'], ['y'], ['y']],
    ['a', ANY, ['y'], ['y']],
    ['a', ANY, undefined, 'refused'],
    ['every', ANY, undefined, [ANY]],
    ['every', ['x'], [ANY], 'refused'],
    ['every', ['*'], ['x'], 'refused'],
    ['b', ['x', 'y'], ['y'], 'refused'],
    ['a', 'x', ['y'], 'refused'],
    ['a', 'z', undefined, 'refused'],
  ])('for %s of one for %j, asked for %j, is for %j', async (client, aud, audience, expected) => {
    const answer = await narrowed({
      client,
      claims: { aud },
      form: { ...(audience && { audience }) },
    });
    const text = 'The subject_token or the application is not for this audience';
    const refusal = [400, 'invalid_target', text];
    if (expected === 'refused') expect(answer).toEqual(refusal);
    else expect(answer).toMatchObject({ audiences: expected });
  });

  it('may be the tenth generation', async () => {
    const jti = Array(10).fill('s').join('.');
    expect(await narrowed({ claims: { jti } })).toMatchObject({ parentId: jti });
  });

  it.each<[string, Asked, unknown]>([
    ['a token of somebody else', { form: { subject_token: 'theirs' } }, undefined],
    ['a token whose user has left', { isAlive: false }, undefined],
    [
      'nothing but what the other has not',
      { form: { scope: 'jobs:submit' } },
      [400, 'invalid_scope', 'The group allows none of the scopes that were asked for'],
    ],
    [
      'another group',
      { form: { group: 'grid_share' } },
      [403, 'access_denied', 'The group is not that of the subject_token'],
    ],
    [
      'another setup',
      { form: { setup: 'Test' } },
      [403, 'access_denied', 'The setup is not that of the subject_token'],
    ],
    [
      'a token of another key',
      { claims: { cnf: { 'x5t#S256': 'mine' } }, thumbprint: 'yours' },
      [
        400,
        'invalid_request',
        'The subject_token is bound to a key that the request does not prove',
      ],
    ],
    [
      'a token of another DPoP key',
      { claims: { cnf: { jkt: 'mine' } }, thumbprint: 'mine', key: 'yours' },
      [
        400,
        'invalid_request',
        'The subject_token is bound to a key that the request does not prove',
      ],
    ],
    [
      'the eleventh generation',
      { claims: { jti: Array(11).fill('s').join('.') } },
      [400, 'invalid_request', 'The subject_token has been exchanged too often'],
    ],
  ])('is not given for %s', async (_what, asked, expected) => {
    expect(await narrowed(asked)).toEqual(expected);
  });

  it.each<[string, object | undefined, Pick<Asked, 'thumbprint' | 'key'>, unknown]>([
    ['keeps the certificate', { 'x5t#S256': 'mine' }, { thumbprint: 'mine' }, undefined],
    ['keeps the DPoP key', { jkt: 'mine' }, { key: 'mine' }, undefined],
    ['keeps the certificate', { 'x5t#S256': 'mine' }, { thumbprint: 'mine', key: 'k' }, undefined],
    ['gains the key of the request', undefined, { key: 'mine' }, { jkt: 'mine' }],
  ])('%s that alone may use it: %j, %j', async (_what, cnf, shown, gained) => {
    const claims = cnf === undefined ? {} : { cnf: cnf as Confirmation };
    expect(await narrowed({ claims, ...shown })).toMatchObject({ confirmation: gained ?? cnf });
  });

  it('may be an application’s own, and then stays its own', async () => {
    const claims = { sub: 'b', preferred_username: 'application:b', client_id: 'b' };
    expect(await narrowed({ claims, form: { scope: 'jobs:read' } })).toMatchObject({
      user: { name: 'application:b', sub: 'b' },
      clientId: 'a',
      scopes: ['jobs:read'],
      act: { sub: 'a', act: { sub: 'b' } },
    });
  });
});

describe('a chain of exchanges', () => {
  const path = fc.constantFrom(...TREE).map((place) => (place === '' ? '/' : place));
  const word = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...Object.keys(JOBS)) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...Object.keys(VERBS)), path)
        .map(([verb, place]) => `storage.${verb}:${place}`),
    },
    { weight: 2, arbitrary: fc.constantFrom(...GROUP_WORDS) },
  );
  const step: fc.Arbitrary<Step> = fc.record({
    scope: fc.option(fc.array(word, { minLength: 1, maxLength: 6 }), { nil: undefined }),
    audience: fc.option(fc.subarray([SERVICE, 'x', 'y', 'z'], { minLength: 1 }), {
      nil: undefined,
    }),
    client: fc.constantFrom('a', 'b', 'every'),
  });
  const chain: fc.Arbitrary<Chain> = fc.record({
    group: fc.constantFrom(...Object.keys(MAY)),
    first: fc.array(word, { minLength: 1, maxLength: 8 }),
    groups: fc.subarray(['/vo/grid_user', '/vo/grid_share', '/vo', '/vo/grid_adm', '/other/x']),
    shut: fc.subarray(TREE.flatMap((place) => [`read ${place}`, `write ${place}`])),
  });

  it('never opens what parent, application, group, catalogue or path forbids, and gives what all allow', async () => {
    const seen = { tokens: 0, refusals: 0 };
    await fc.assert(
      fc.asyncProperty(chain, fc.array(step, { maxLength: 4 }), async (begun, steps) => {
        const { group, first, groups, shut } = begun;
        const judge = new Judge(begun, (client) => [
          SERVICE,
          ...(registry.client(client)?.audiences ?? []),
        ]);
        const mayOpen = ({ path: at, right }: StorageWish): boolean =>
          !TREE.some(
            (place) => isIn(place, at === '/' ? '' : at) && shut.includes(`${right} ${place}`),
          );
        let claims: Partial<AccessTokenClaims> = {
          ...{ group, scope: first.join(' '), aud: [SERVICE, 'x', 'y'] },
          'wlcg.groups': groups,
        };
        for (const one of steps) {
          const { scope, audience, client } = one;
          const form = { ...(scope && { scope: scope.join(' ') }), ...(audience && { audience }) };
          const answer = await narrowed({ claims, client, mayOpen, form });
          if (Array.isArray(answer)) {
            seen.refusals += 1;
            judge.refusal(answer[1], claims, one);
            return;
          }
          seen.tokens += 1;
          const child = answer as AccessTokenInput;
          judge.token(child, claims, one);
          claims = {
            ...{ group, scope: child.scopes.join(' '), aud: [...(child.audiences ?? [])] },
            'wlcg.groups': [...(child.groups ?? [])],
          };
        }
      }),
      { seed, numRuns: runs(1000) },
    );
    expect(Math.min(seen.tokens, seen.refusals)).toBeGreaterThan(runs(50));
  });
});
