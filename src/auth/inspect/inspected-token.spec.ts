import type { ConsentEntity } from '../stores/consent.entity.js';
import type { AccessTokenClaims } from '../bearer/access-token.js';
import { mayAskAbout, type InspectedToken } from './inspected-token.js';

const claims: AccessTokenClaims = {
  iss: 'https://grid.example',
  sub: 'id-of-alice',
  preferred_username: 'alice',
  aud: 'https://grid.example',
  exp: 1,
  iat: 0,
  jti: 'grant-1.serial',
  client_id: 'portal',
  scope: 'jobs:read',
  group: 'grid_user',
  setup: 'Prod',
};

const consent: ConsentEntity = {
  id: 'grant-1',
  user: 'alice',
  clientId: 'portal',
  group: 'grid_user',
  setup: 'Prod',
  scope: 'jobs:read',
  sub: null,
  audience: null,
  dpopKey: null,
  createdAt: new Date(0),
  usedAt: new Date(0),
  expiresAt: new Date(1),
  revokedAt: null,
  authTime: null,
  acr: null,
  sid: null,
};

const access: InspectedToken = { kind: 'access_token', claims };
const refresh: InspectedToken = { kind: 'refresh_token', consent, isLive: true };
const ofCertificate: InspectedToken = {
  kind: 'access_token',
  claims: { ...claims, client_id: 'certificate' },
};

const portal = { client: { id: 'portal' }, user: undefined };
const other = { client: { id: 'other' }, user: undefined };
const alice = { client: undefined, user: { name: 'alice' } };
const bob = { client: undefined, user: { name: 'bob' } };
const nobody = { client: undefined, user: undefined };
const otherOfAlice = { client: { id: 'other' }, user: { name: 'alice' } };

describe('asking about a token', () => {
  it.each<[string, InspectedToken, boolean[]]>([
    ['an access token of the portal', access, [true, false, false, false, false, false]],
    ['a refresh token of the portal', refresh, [true, false, false, false, false, false]],
    ['a token for a certificate', ofCertificate, [false, false, true, false, false, false]],
  ])('%s is for its own holder', (_what, found, expected) => {
    const askers = [portal, other, alice, bob, nobody, otherOfAlice];
    expect(askers.map((asker) => mayAskAbout(found, asker))).toEqual(expected);
  });
});
