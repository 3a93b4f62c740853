/** Consents with a refresh token each, as they stand in the database of a service that has run for long. */
import { join } from 'node:path';
import { runToEnd } from '../frame/processes.mjs';

const CHUNK = 100_000;

/** How refresh tokens of stored grants are spelt; `{n}` is their number, nine digits long. */
export const REFRESH_TOKEN = 'bench-{n}';

/** A round uses this many refresh tokens at most. */
const TOKENS_A_ROUND = 50_000;

/** Server → number of its first refresh token that nobody has used. */
const UNUSED = new WeakMap();

/** The first number of refresh tokens for a round, which no other round uses. Throws when the server has no more. */
export function tokensOfRound(bench, server) {
  const first = UNUSED.get(server) ?? 1;
  const grants = Number(bench.options.grants);
  if (first + TOKENS_A_ROUND - 1 > grants) {
    throw new Error(
      `all refresh tokens are used: take more than --grants ${grants}, or fewer rounds`,
    );
  }
  UNUSED.set(server, first + TOKENS_A_ROUND);
  return first;
}

const ADD_GRANTS = `
  insert into authorization_grant (id, user_name, client_id, group_name, setup, scope, created_at, used_at, expires_at)
  select 'bench-' || n, 'alice', 'bench', 'grid_user', 'Prod', 'jobs:read jobs:submit', now(), now(),
    now() + interval '30 days'
  from generate_series($1::int, $2::int) n`;

const ADD_TOKENS = `
  insert into refresh_token (token_hash, grant_id, created_at, expires_at)
  select translate(rtrim(encode(sha256(convert_to('bench-' || lpad(n::text, 9, '0'), 'UTF8')), 'base64'), '='), '+/', '-_'),
    'bench-' || n, now(),
    now() + interval '30 days'
  from generate_series($1::int, $2::int) n`;

/**
 * A server with the confidential application `bench`, which may have tokens of its own, and `grants` stored grants; of one process,
 * or of one for each processor for peers that use all of them.
 */
export async function serverWithGrants(bench, { onAll = false } = {}) {
  const server = await bench.server({
    name: onAll ? 'grants-on-all' : 'grants',
    env: { GRID_DB_POOL: '40', GRID_PROCESSES: onAll ? '0' : '1' },
  });
  const grants = Number(bench.options.grants);
  server.grants ??= prepare(bench, server, grants);
  const secret = await server.grants;
  const basic = Buffer.from(`bench:${secret}`).toString('base64');
  const headers = {
    authorization: `Basic ${basic}`,
    'content-type': 'application/x-www-form-urlencoded',
  };
  return { server, headers };
}

async function prepare(bench, { home, database }, grants) {
  const cli = join(bench.checkout, 'dist/src/cli/main.js');
  const words = ['--name', 'Bench', '--id', 'bench', '--confidential', '--redirect-uri'];
  const own = ['https://portal.example/callback', '--scope', 'jobs:read', '--group', 'grid_user'];
  const env = { ...process.env, GRID_HOME: home, DATABASE_URL: database, GRID_DEMO: 'true' };
  const args = [cli, 'client', 'add', ...words, ...own, '--json'];
  const added = JSON.parse(await runToEnd(process.execPath, args, { env }));
  bench.log(`storing ${grants} grants`);
  for (let from = 1; from <= grants; from += CHUNK) {
    const range = [from, Math.min(grants, from + CHUNK - 1)];
    await bench.sql(database, ADD_GRANTS, range);
    await bench.sql(database, ADD_TOKENS, range);
  }
  await bench.sql(database, 'vacuum analyze authorization_grant');
  await bench.sql(database, 'vacuum analyze refresh_token');
  return added.client_secret;
}
