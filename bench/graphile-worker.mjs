/** Submitting beside graphile-worker, a library that puts jobs into a queue in PostgreSQL: it is the floor of these figures. */
import pg from 'pg';
import { makeWorkerUtils } from 'graphile-worker';

const BULK = 1_000;
const MANIFEST = { Executable: '/bin/true', JobName: 'bench', Sites: ['LOCAL.demo'] };

/** Jobs a second through HTTP with token, counters, history and events, beside the library's call with the same payload. */
function submit({ name, title, floor, manifests, connections }) {
  return {
    name: `graphile-worker.${name}`,
    title,
    unit: 'jobs/s',
    better: 'higher',
    floor,
    async prepare(bench) {
      const server = await bench.server({ name: 'submit' });
      const token = await server.token('alice');
      const json = manifests === 1 ? MANIFEST : { manifests: Array(manifests).fill(MANIFEST) };
      const pgPool = new pg.Pool({ connectionString: await bench.database(), max: connections });
      const queue = await makeWorkerUtils({ pgPool });
      await queue.migrate();
      const specs = Array(manifests).fill({ identifier: 'bench', payload: MANIFEST });
      const add = () => (manifests === 1 ? queue.addJob('bench', MANIFEST) : queue.addJobs(specs));
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(json);
      const post = { server, token, method: 'POST', path: '/jobs', body, headers, connections };
      return {
        figure: async (seconds) => {
          const { value, p50, p99 } = await bench.load({ ...post, seconds });
          return { value: value * manifests, p50, p99 };
        },
        floor: async (seconds) => (await bench.perSecond(add, seconds, connections)) * manifests,
        finish: async () => {
          await queue.release();
          await pgPool.end();
        },
      };
    },
  };
}

export const figures = [
  submit({
    name: 'bulk',
    title: `POST /jobs, ${BULK} manifests a request, 2 connections`,
    floor: 'add_jobs, as many a call',
    manifests: BULK,
    connections: 2,
  }),
  submit({
    name: 'single',
    title: 'POST /jobs, one manifest, 16 connections',
    floor: 'add_job',
    manifests: 1,
    connections: 16,
  }),
];
