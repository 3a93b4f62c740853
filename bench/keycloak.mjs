/** The same work done by Keycloak, in turns with ours, each on all processors: the floor of these figures is the peer. */
import { Agent, request } from 'undici';
import { keycloakIsMissing, startKeycloak } from './frame/keycloak.mjs';
import { REFRESH_TOKEN, serverWithGrants } from './token-data/stored-grants.mjs';

export { options } from './grants.mjs';

const HEADERS = {
  authorization: `Basic ${Buffer.from('bench:bench-secret').toString('base64')}`,
  'content-type': 'application/x-www-form-urlencoded',
};
const OWN_TOKEN = 'grant_type=client_credentials';
const SIGN_IN = 'grant_type=password&username=alice&password=alice';
/** Of our stored tokens, the last are used by no other figure. */
const LAST_TOKENS = 1_000;
/** Java needs a while to get fast. */
const WARM_UP_MS = 30_000;

let starting;
const keycloak = (bench) => (starting ??= warmed(bench));

async function warmed(bench) {
  const server = await startKeycloak(bench);
  const side = { server, headers: HEADERS };
  const dispatcher = agentOf(side);
  const until = performance.now() + WARM_UP_MS;
  const one = async () => {
    while (performance.now() < until) {
      const own = await post(side, `${server.path}/token`, OWN_TOKEN, dispatcher);
      const asked = `token=${own.access_token}`;
      await post(side, `${server.path}/token/introspect`, asked, dispatcher);
    }
  };
  await Promise.all(Array.from({ length: bench.options.connections }, one));
  await dispatcher.close();
  return server;
}

/** A figure whose peer is Keycloak; left out where there is none. */
const beside = ({ name, title, unit, make }) => ({
  name: `keycloak.${name}`,
  title,
  unit,
  better: 'higher',
  floor: 'Keycloak, ES256, its store in a file',
  async prepare(bench) {
    const missing = await keycloakIsMissing();
    if (missing !== undefined) {
      bench.log(`keycloak.${name} is left out: ${missing}`);
      return undefined;
    }
    const { server, headers } = await serverWithGrants(bench, { onAll: true });
    const peer = await keycloak(bench);
    return make(bench, { server, headers }, { server: peer, headers: HEADERS, path: peer.path });
  },
});

/** One request with a form; throws for a status of 400 or more. */
async function post(side, path, body, dispatcher) {
  const { headers, server } = side;
  const method = 'POST';
  const answer = await request(`${server.url}${path}`, { method, headers, body, dispatcher });
  const text = await answer.body.text();
  if (answer.statusCode >= 400) throw new Error(`${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text);
}

const agentOf = ({ server }) => new Agent({ connect: { ca: server.ca }, keepAliveTimeout: 60_000 });

const load = (bench, side, wish) => (seconds) =>
  bench.load({ ...side, method: 'POST', ...wish, seconds });

/** Introspection of an own token, on each side. */
async function introspection(bench, ours, theirs) {
  const [own, other] = await Promise.all([
    post(ours, '/oauth2/token', `${OWN_TOKEN}&scope=jobs:read`, agentOf(ours)),
    post(theirs, `${theirs.path}/token`, OWN_TOKEN, agentOf(theirs)),
  ]);
  return {
    figure: load(bench, ours, { path: '/oauth2/introspect', body: `token=${own.access_token}` }),
    floor: load(bench, theirs, {
      path: `${theirs.path}/token/introspect`,
      body: `token=${other.access_token}`,
    }),
  };
}

/** Refreshes a second, each connection with the token that its last refresh gave, from this process for both. */
function chains(bench, side, path, tokens) {
  const dispatcher = agentOf(side);
  return async (seconds) => {
    const until = performance.now() + seconds * 1000;
    const times = [];
    const began = performance.now();
    const chain = async (place) => {
      while (performance.now() < until) {
        const sent = performance.now();
        const body = `grant_type=refresh_token&refresh_token=${tokens[place]}`;
        tokens[place] = (await post(side, path, body, dispatcher)).refresh_token;
        times.push(performance.now() - sent);
      }
    };
    await Promise.all(tokens.map((_token, place) => chain(place)));
    const value = (times.length * 1000) / (performance.now() - began);
    times.sort((a, b) => a - b);
    const at = (part) => times[Math.floor(times.length * part)];
    return { value, p50: at(0.5), p99: at(0.99) };
  };
}

async function renewal(bench, ours, theirs) {
  const places = Array.from({ length: bench.options.connections }, (_, place) => place);
  const first = Number(bench.options.grants) - LAST_TOKENS;
  const own = places.map((place) =>
    REFRESH_TOKEN.replace('{n}', String(first + place).padStart(9, '0')),
  );
  const dispatcher = agentOf(theirs);
  const signIn = () => post(theirs, `${theirs.path}/token`, SIGN_IN, dispatcher);
  const others = await Promise.all(places.map(signIn));
  const given = others.map((answer) => answer.refresh_token);
  return {
    figure: chains(bench, ours, '/oauth2/token', own),
    floor: chains(bench, theirs, `${theirs.path}/token`, given),
  };
}

export const figures = [
  beside({
    name: 'client-credentials',
    title: 'token of an application for itself, by its secret',
    unit: 'tokens/s',
    make: async (bench, ours, theirs) => ({
      figure: load(bench, ours, { path: '/oauth2/token', body: `${OWN_TOKEN}&scope=jobs:read` }),
      floor: load(bench, theirs, { path: `${theirs.path}/token`, body: OWN_TOKEN }),
    }),
  }),
  beside({
    name: 'introspect',
    title: 'introspection of a signed access token',
    unit: 'req/s',
    make: introspection,
  }),
  beside({
    name: 'refresh',
    title: 'refresh with rotation, a chain on each connection, load by Node',
    unit: 'tokens/s',
    make: renewal,
  }),
];
