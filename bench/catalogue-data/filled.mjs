import { fill } from './fill.mjs';

/** A server whose catalogue has so many files, filled once for all figures of a run: `{server, tree, token}`. */
export function filledCatalogue(bench, files) {
  return bench.once(`catalogue-${files}`, () => fillNow(bench, files));
}

async function fillNow(bench, files) {
  const server = await bench.server({
    name: `catalogue-${files}`,
    env: { GRID_DB_TIMEOUT: '600' },
  });
  const began = Date.now();
  const tree = await fill(server.database, files, bench.log);
  bench.log(`filled in ${Math.round((Date.now() - began) / 1000)} s`);
  return { server, tree, token: await server.token('alice', 'grid_user', 'Prod') };
}
