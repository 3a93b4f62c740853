import { fillJobs } from './fill.mjs';

/** The server with a table of `count` jobs, made once a run: {server, token, count}. */
export function filledJobs(bench, count) {
  return bench.once(`jobs-${count}`, () => fill(bench, count));
}

async function fill(bench, count) {
  const server = await bench.server({ name: `jobs-${count}` });
  const began = Date.now();
  await fillJobs(server.database, count);
  bench.log(`${count} jobs filled in ${Math.round((Date.now() - began) / 1000)} s`);
  return { server, count, token: await server.token('alice') };
}

/** The path that a list itself names as the next one after `path`. */
export async function pathAfter({ server, token }, path) {
  const answer = await server.call('GET', path, { token });
  const [, next] = /<([^>]+)>;\s*rel="next"/.exec(answer.headers.link) ?? [];
  const url = new URL(next, server.url);
  return url.pathname + url.search;
}
