/** The file catalogue at --files files: reads beside the select of the same rows, and bulk registration beside COPY. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { fill } from './catalogue-data/fill.mjs';

/** Options of this file. */
export const options = {
  files: { default: '100000', description: 'files in the catalogue (catalogue figures)' },
};

const PLACES = 64;
const BULK_FILES = 20_000;
let filling;

/** One server with the filled catalogue for all figures. */
function catalogue(bench) {
  filling ??= (async () => {
    const server = await bench.server({
      name: 'catalogue',
      env: { GRID_DB_TIMEOUT: '600' },
    });
    const began = Date.now();
    const tree = await fill(server.database, Number(bench.options.files), bench.log);
    bench.log(`filled in ${Math.round((Date.now() - began) / 1000)} s`);
    return { server, tree, token: await server.token('alice', 'grid_user', 'Prod') };
  })();
  return filling;
}

const encoded = (path) => Buffer.from(path).toString('base64url');

/** Some blocks, spread over the tree. */
function places(tree) {
  return Array.from({ length: PLACES }, (_, n) => Math.floor((n * tree.blocks) / PLACES));
}

/** A figure: requests/s of paths beside prepared selects of the same rows. */
function read(name, title, floor, make) {
  return {
    name: `catalogue.${name}`,
    title,
    unit: 'req/s',
    better: 'higher',
    floor,
    async prepare(bench) {
      const { server, tree, token } = await catalogue(bench);
      const { paths, text, values } = make(tree);
      return {
        figure: (seconds) => bench.load({ server, paths, token, seconds }),
        floor: (seconds) => bench.selects({ database: server.database, text, values, seconds }),
      };
    },
  };
}

const FOUND = 'select path, sub_files, sub_bytes, label from catalogue_directory';

/** Searches of runs [first, first + size) below /bench, some with further conditions. */
function search(name, size, conditions, found) {
  const what = conditions.length + (size === 1 ? 1 : 2);
  return read(
    name,
    `search, ${what} conditions, about ${found} found`,
    `prepared select of ${found} directories`,
    (tree) => {
      const paths = places(tree).map((block) => {
        const first = tree.runOf(block) % Math.max(1, tree.blocks - size);
        const query = new URLSearchParams(conditions);
        if (size === 1) query.append('run', `=|${first}`);
        else {
          query.append('run', `>=|${first}`);
          query.append('run', `<|${first + size}`);
        }
        return `/filecatalogue/directory/${encoded('/bench')}/search?${query}`;
      });
      const values = places(tree).map((block) => [
        tree.blockIds[Math.min(block, tree.blocks - found)],
      ]);
      return { paths, text: `${FOUND} where id >= $1 order by id limit ${found}`, values };
    },
  );
}

const ENERGY = ['energy', '=|300'];
const PARTICLE = ['particle', 'in|p3,p4,p5'];
const YEAR = ['year', '>=|2013'];

export const figures = [
  read(
    'attributes',
    'GET …/file/<f>/attributes',
    'prepared select of the row by its key',
    (tree) => ({
      paths: places(tree).map(
        (block) => `/filecatalogue/file/${encoded(`${tree.pathOf(block)}/data-007`)}/attributes`,
      ),
      text: 'select * from catalogue_file where directory_id = $1 and name = $2',
      values: places(tree).map((block) => [tree.blockIds[block], 'data-007']),
    }),
  ),
  read('directory', 'GET …/directory/<d>, 50 files', 'prepared select of the 50 rows', (tree) => ({
    paths: places(tree).map((block) => `/filecatalogue/directory/${encoded(tree.pathOf(block))}`),
    text: 'select * from catalogue_file where directory_id = $1 order by name limit 50',
    values: places(tree).map((block) => [tree.blockIds[block]]),
  })),
  read(
    'inherited',
    'GET …/file/<f>/metadata?inherited=true',
    'prepared select of the row by its key',
    (tree) => ({
      paths: places(tree).map(
        (block) =>
          `/filecatalogue/file/${encoded(`${tree.pathOf(block)}/data-007`)}/metadata?inherited=true`,
      ),
      text: 'select metadata from catalogue_file where directory_id = $1 and name = $2',
      values: places(tree).map((block) => [tree.blockIds[block], 'data-007']),
    }),
  ),
  search('search-few', 1, [], 1),
  search('search-1500', 1_500, [], 1_500),
  search('search-2', 1_500, [ENERGY], 300),
  search('search-4', 1_500, [ENERGY, PARTICLE, YEAR], 60),
  read('values', 'metadata, no condition, maxValues=100', 'prepared select of 100 values', () => ({
    paths: ['/filecatalogue/metadata?maxValues=100'],
    text: 'select * from catalogue_value order by field_id, int_value limit 100',
    values: [[]],
  })),
  read(
    'values-2',
    'metadata, run range and energy, 300 matching',
    'prepared select of 300 directories',
    (tree) => ({
      paths: places(tree).map((block) => {
        const first = tree.runOf(block) % Math.max(1, tree.blocks - 1_500);
        return `/filecatalogue/metadata?${new URLSearchParams([ENERGY, ['run', `>=|${first}`], ['run', `<|${first + 1_500}`]])}`;
      }),
      text: `${FOUND} where id >= $1 order by id limit 300`,
      values: places(tree).map((block) => [tree.blockIds[Math.min(block, tree.blocks - 300)]]),
    }),
  ),
  bulkFigure(),
];

/** Bulk registration of new files in 100 new directories, beside COPY of the same rows into a table of that shape. */
function bulkFigure() {
  return {
    name: 'catalogue.bulk',
    title: `POST /filecatalogue/bulk, ${BULK_FILES} new files in 100 directories`,
    unit: 'files/s',
    better: 'higher',
    floor: 'COPY of the same rows into a table with the same key',
    rounds: 3,
    async prepare(bench) {
      const { server } = await catalogue(bench);
      const token = await server.token('fred', 'grid_fc', 'Prod');
      const client = new pg.Client({ connectionString: server.database });
      await client.connect();
      await client.query(
        'create table bench_copy (like catalogue_file including defaults including indexes)',
      );
      let round = 0;
      return {
        figure: async () => {
          round += 1;
          const lines = Array.from({ length: BULK_FILES }, (_, n) =>
            JSON.stringify({
              kind: 'file',
              path: `/bulk/r${round}/d${n % 100}/f${n}`,
              size: n,
              checksum: 'ad8b1f02',
            }),
          );
          const body = lines.join('\n');
          const began = performance.now();
          const headers = { 'content-type': 'application/x-ndjson' };
          await server.call('POST', '/filecatalogue/bulk', { token, body, headers });
          return { value: (BULK_FILES / (performance.now() - began)) * 1000 };
        },
        floor: async () => {
          await client.query('truncate bench_copy');
          const columns =
            'directory_id, name, size, owner_id, group_id, mode, checksum, checksum_type';
          const began = performance.now();
          const rows = Readable.from(
            (function* () {
              for (let n = 0; n < BULK_FILES; n += 100) {
                yield Array.from(
                  { length: 100 },
                  (_, m) => `${m}\tf${n + m}\t${n + m}\t1\t2\t509\tad8b1f02\tAdler32\n`,
                ).join('');
              }
            })(),
          );
          await pipeline(rows, client.query(copyFrom(`copy bench_copy (${columns}) from stdin`)));
          return { value: (BULK_FILES / (performance.now() - began)) * 1000 };
        },
        finish: async () => {
          await client.query('drop table bench_copy');
          await client.end();
        },
      };
    },
  };
}
