/** Figures of submitting: many manifests a request, and one, beside the bare INSERT of the same rows. */
import pg from 'pg';

const BULK = 1_000;
const MANIFEST = { Executable: '/bin/true', JobName: 'bench', Sites: ['LOCAL.demo'] };
/** The tables that a submit writes. */
const TABLES = ['jobs', 'job_descriptions', 'job_history'];
/** Ids of the floor's rows are far from each other's and from those of real jobs. */
const STRIDE = 10_000_000;

/**
 * Inserts of the rows that `count` submitted jobs made, into copies of their tables with all keys and indexes (and no
 * triggers), in one transaction: the rows are in the database already and only get new ids.
 */
async function bareInserts(server, jids, connections) {
  const schema = `floor_${jids.length}`;
  const pool = new pg.Pool({ connectionString: server.database, max: connections });
  const statements = [];
  await pool.query(`create schema ${schema}`);
  for (const table of TABLES) {
    await pool.query(`create table ${schema}.${table} (like public.${table} including indexes)`);
    await pool.query(`create table ${schema}.${table}_rows as
      select * from public.${table} where jid = any('{${jids.join(',')}}'::bigint[])`);
    const { rows } = await pool.query(
      `select attname as name from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
      [`public.${table}`],
    );
    const moved = rows.map(({ name }) => (/^(jid|id)$/.test(name) ? `${name} + $1::bigint` : name));
    const text = `insert into ${schema}.${table} select ${moved.join(', ')} from ${schema}.${table}_rows`;
    statements.push({ name: `floor-${table}`, text });
  }
  let turn = 0;
  const insert = async () => {
    turn += 1;
    const values = [turn * STRIDE];
    const client = await pool.connect();
    try {
      await client.query('begin');
      for (const statement of statements) await client.query({ ...statement, values });
      await client.query('commit');
    } finally {
      client.release();
    }
  };
  return { insert, stop: () => pool.end() };
}

/** Jobs a second through the service beside the bare inserts, with the same number of connections. */
function submit({ name, title, floor, manifests, connections }) {
  return {
    name: `submit.${name}`,
    title,
    unit: 'jobs/s',
    better: 'higher',
    floor,
    async prepare(bench) {
      const server = await bench.server({ name: 'submit' });
      const token = await server.token('alice');
      const json = manifests === 1 ? MANIFEST : { manifests: Array(manifests).fill(MANIFEST) };
      const first = await server.call('POST', '/jobs', { token, json });
      const bare = await bareInserts(server, first.body.jids, connections);
      const post = {
        ...{ server, token, method: 'POST', path: '/jobs', body: JSON.stringify(json) },
        ...{ headers: { 'content-type': 'application/json' }, connections },
      };
      return {
        figure: async (seconds) => {
          const { value, p50, p99 } = await bench.load({ ...post, seconds });
          return { value: value * manifests, p50, p99 };
        },
        floor: async (seconds) =>
          (await bench.perSecond(bare.insert, seconds, connections)) * manifests,
        finish: () => bare.stop(),
      };
    },
  };
}

export const figures = [
  submit({
    name: 'bulk',
    title: `POST /jobs, ${BULK} manifests a request, 2 connections`,
    floor: 'INSERT of the same rows, 1,000 jobs a transaction, no triggers',
    manifests: BULK,
    connections: 2,
  }),
  submit({
    name: 'single',
    title: 'POST /jobs, one manifest, 16 connections',
    floor: 'INSERT of the same rows, one job a transaction, no triggers',
    manifests: 1,
    connections: 16,
  }),
];
