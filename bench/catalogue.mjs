/** The file catalogue at --files files: reads beside the select of the same rows, and bulk registration beside COPY. */
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import pg from 'pg';
import { Agent, request } from 'undici';
import { from as copyFrom } from 'pg-copy-streams';
import { filledCatalogue } from './catalogue-data/filled.mjs';
import { QUESTIONS } from './catalogue-data/questions.mjs';

/** Options of this file. */
export const options = {
  files: { default: '100000', description: 'files in the catalogue (catalogue and growth)' },
};

const BULK_FILES = 20_000;
const LOOKUP_PATHS = 10_000;
const FILES_OF_A_BLOCK = 50;

const catalogue = (bench) => filledCatalogue(bench, Number(bench.options.files));

/** A question as a figure: requests/s beside a bare server that answers with the same rows by a prepared select. */
function read({ name, title, floor, make }) {
  return {
    name: `catalogue.${name}`,
    title,
    unit: 'req/s',
    better: 'higher',
    floor: `bare node:https + ${floor}`,
    async prepare(bench) {
      const { server, tree, token } = await catalogue(bench);
      const { paths, text, values } = make(tree);
      const bare = await bench.bare({ database: server.database, text, values, rows: true });
      return {
        figure: (seconds) => bench.load({ server, paths, token, seconds }),
        floor: (seconds) => bench.load({ server: bare, paths, seconds }),
        finish: () => bare.stop(),
      };
    },
  };
}

export const figures = [...QUESTIONS.map(read), lookup(), bulkFigure()];

/** Attributes of many files by path in one call, beside a bare server that answers with these rows. */
function lookup() {
  return {
    name: 'catalogue.lookup',
    title: `POST /filecatalogue/lookup, ${LOOKUP_PATHS} paths in ${LOOKUP_PATHS / FILES_OF_A_BLOCK} directories`,
    unit: 'ms',
    better: 'lower',
    floor: 'bare node:https + prepared select of the rows',
    async prepare(bench) {
      const { server, tree, token } = await catalogue(bench);
      const blocks = Array.from({ length: LOOKUP_PATHS / FILES_OF_A_BLOCK }, (_, n) => n);
      const names = Array.from(
        { length: FILES_OF_A_BLOCK },
        (_, n) => `data-${String(n).padStart(3, '0')}`,
      );
      const paths = blocks.flatMap((block) => names.map((name) => `${tree.pathOf(block)}/${name}`));
      const ids = blocks.map((block) => tree.blockIds[block]);
      const text = 'select * from catalogue_file where directory_id = any($1::integer[])';
      const { database } = server;
      const bare = await bench.bare({ database, text, values: [[ids]], rows: true });
      const body = JSON.stringify({ paths });
      return {
        figure: (seconds) => timesOf({ of: server, token, body, seconds }),
        floor: (seconds) => timesOf({ of: bare, token, body, seconds }),
        finish: () => bare.stop(),
      };
    },
  };
}

/** Milliseconds of one call after the other, to the last byte of the answer. */
async function timesOf({ of, token, body, seconds }) {
  const dispatcher = new Agent({ connect: { ca: of.ca } });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const until = performance.now() + seconds * 1000;
  const times = [];
  do {
    const began = performance.now();
    const wish = { method: 'POST', headers, body, dispatcher };
    const answer = await request(`${of.url}/filecatalogue/lookup`, wish);
    for await (const chunk of answer.body) void chunk;
    if (answer.statusCode !== 200) throw new Error(`lookup: ${answer.statusCode}`);
    times.push(performance.now() - began);
  } while (performance.now() < until);
  await dispatcher.close();
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.floor((times.length - 1) * part)];
  return { value: at(0.5), p50: at(0.5), p99: at(0.99) };
}

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
