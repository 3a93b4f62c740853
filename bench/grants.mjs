/** Figures of the token endpoint and of introspection, with a million grants in the database. */
import { REFRESH_TOKEN, serverWithGrants, tokensOfRound } from './token-data/stored-grants.mjs';

export const options = {
  grants: { default: '1000000', description: 'grants in the database, a refresh token each' },
};

/** Length of what a signature of ours is made of, bytes. */
const SIGNED_BYTES = 700;
const OWN = 'grant_type=client_credentials&scope=jobs:read';
const RENEWAL = `grant_type=refresh_token&refresh_token=${REFRESH_TOKEN}`;

/** A bare server whose answers are as long as that of the service to one request. */
async function bareLike(bench, { server, headers, path, body }, rest = {}) {
  const answer = await server.call('POST', path, { headers, body });
  return bench.bare({ database: server.database, body: JSON.stringify(answer.body), ...rest });
}

const ownToken = {
  name: 'grants.client-credentials',
  title: 'token of an application for itself, by its secret',
  unit: 'tokens/s',
  better: 'higher',
  floor: 'bare node:https + one ES256 signature',
  async prepare(bench) {
    const { server, headers } = await serverWithGrants(bench);
    const wish = { method: 'POST', path: '/oauth2/token', headers, body: OWN };
    const bare = await bareLike(bench, { server, ...wish }, { sign: SIGNED_BYTES });
    return {
      figure: (seconds, more) => bench.load({ server, ...wish, seconds, ...more }),
      floor: (seconds, more) => bench.load({ server: bare, ...wish, seconds, ...more }),
    };
  },
};

const renewal = {
  name: 'grants.refresh',
  title: 'refresh with rotation, every token once',
  unit: 'tokens/s',
  better: 'higher',
  floor: 'bare node:https + one ES256 signature + one insert',
  async prepare(bench) {
    const { server, headers } = await serverWithGrants(bench);
    await bench.sql(
      server.database,
      'create table if not exists floor_row (id bigserial primary key, t text)',
    );
    const wish = { method: 'POST', path: '/oauth2/token', headers };
    const sample = RENEWAL.replace('{n}', String(tokensOfRound(bench, server)).padStart(9, '0'));
    const text = "insert into floor_row (t) values ('a successor')";
    const bare = await bareLike(
      bench,
      { server, ...wish, body: sample },
      { sign: SIGNED_BYTES, text },
    );
    return {
      figure: (seconds, more) => {
        const first = tokensOfRound(bench, server);
        return bench.load({ server, ...wish, body: RENEWAL, first, seconds, ...more });
      },
      floor: (seconds, more) =>
        bench.load({ server: bare, ...wish, body: sample, seconds, ...more }),
    };
  },
};

const introspection = {
  name: 'grants.introspect',
  title: 'introspection of an access token by its application',
  unit: 'req/s',
  better: 'higher',
  floor: 'bare node:https',
  async prepare(bench) {
    const { server, headers } = await serverWithGrants(bench);
    const { body } = await server.call('POST', '/oauth2/token', { headers, body: OWN });
    const wish = { method: 'POST', path: '/oauth2/introspect', headers };
    const asked = { ...wish, body: `token=${body.access_token}` };
    const bare = await bareLike(bench, { server, ...asked });
    return {
      figure: (seconds, more) => bench.load({ server, ...asked, seconds, ...more }),
      floor: (seconds, more) => bench.load({ server: bare, ...asked, seconds, ...more }),
    };
  },
};

/** How long the slowest of a hundred takes at half of the rate that is reached in a first look. */
function atHalfRate(whole) {
  return {
    name: `${whole.name}-half`,
    title: `${whole.title}: p99 at half of the highest rate`,
    unit: 'ms',
    better: 'lower',
    floor: `${whole.floor}, at the same rate`,
    async prepare(bench) {
      const { figure, floor } = await whole.prepare(bench);
      await figure(bench.options.seconds);
      const highest = (await figure(bench.options.seconds)).value;
      const p99At = (side) => async (seconds) => {
        const { value, p50, p99 } = await side(seconds, { rate: highest / 2 });
        return { value: p99, note: `${Math.round(value)}/s, p50 ${p50.toFixed(1)} ms` };
      };
      return { figure: p99At(figure), floor: p99At(floor) };
    },
  };
}

const whole = [ownToken, renewal, introspection];
export const figures = [...whole, ...whole.map(atHalfRate)];
