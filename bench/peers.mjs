/** The same work done by others, in turns with ours: the floor of these figures is the peer. */
import { REFRESH_TOKEN, serverWithGrants, tokensOfRound } from './token-data/stored-grants.mjs';

export { options } from './grants.mjs';

const PEER_HEADERS = {
  authorization: `Basic ${Buffer.from('bench:bench-secret').toString('base64')}`,
  'content-type': 'application/x-www-form-urlencoded',
};

/** A figure beside oidc-provider, whose store is a map in memory. */
const besideOidcProvider = ({ name, title, unit, ours, theirs }) => ({
  name: `peers.oidc-provider-${name}`,
  title,
  unit,
  better: 'higher',
  floor: 'oidc-provider, its store in memory',
  async prepare(bench) {
    const { server, headers } = await serverWithGrants(bench);
    const peer = await bench.oidcProvider();
    const own = await ours({ server, headers });
    const load = (wish, rest) => {
      const first = wish.body.includes('{n}') ? tokensOfRound(bench, rest.server) : undefined;
      return bench.load({ method: 'POST', ...rest, ...wish, first });
    };
    return {
      figure: (seconds) => load(own, { server, headers, seconds }),
      floor: (seconds) => load(theirs, { server: peer, headers: PEER_HEADERS, seconds }),
    };
  },
});

const OWN_TOKEN = 'grant_type=client_credentials&scope=jobs:read';
const RENEWAL = `grant_type=refresh_token&refresh_token=${REFRESH_TOKEN}`;

export const figures = [
  besideOidcProvider({
    name: 'client-credentials',
    title: 'token of an application for itself, by its secret, ES256',
    unit: 'tokens/s',
    ours: () => ({ path: '/oauth2/token', body: OWN_TOKEN }),
    theirs: { path: '/token', body: OWN_TOKEN },
  }),
  besideOidcProvider({
    name: 'refresh',
    title: 'refresh with rotation, ES256; ours with the grants in PostgreSQL',
    unit: 'tokens/s',
    ours: () => ({ path: '/oauth2/token', body: RENEWAL }),
    theirs: { path: '/token', body: RENEWAL },
  }),
  besideOidcProvider({
    name: 'introspect',
    title: 'introspection: ours of a signed access token, theirs of an opaque token in memory',
    unit: 'req/s',
    ours: async ({ server, headers }) => {
      const { body } = await server.call('POST', '/oauth2/token', { headers, body: OWN_TOKEN });
      return { path: '/oauth2/introspect', body: `token=${body.access_token}` };
    },
    theirs: { path: '/token/introspection', body: 'token=bench-000000001' },
  }),
];
