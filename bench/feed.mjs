/** Feeds of job moves: how late they are, what a watcher costs, and what their log costs whoever writes. */
import { join } from 'node:path';

const WITHOUT_LOG = new URL('frame/server-without-log.mjs', import.meta.url).href;

export const options = {
  watchers: { default: '1000', description: 'watchers of the feed of jobs' },
  moves: { default: '500', description: 'moves of jobs a second' },
};

/** Watchers of a portal's operators, who see everything; all others see their own. */
const OPERATORS = 10;
const JOBS_A_REQUEST = 1_000;

async function serverWithJobs(bench, name) {
  const count = Number(bench.options.watchers);
  const env = { GRID_FEED_STREAMS: '100000', NODE_OPTIONS: '--inspect-port=0' };
  const server = await bench.server({ name, env });
  const token = await server.token('alice');
  const jids = [];
  while (jids.length < count) {
    const manifests = Array.from(
      { length: Math.min(JOBS_A_REQUEST, count - jids.length) },
      (_, n) => ({
        ...{ Executable: '/bin/true', JobGroup: `watched-${jids.length + n}` },
      }),
    );
    const { body } = await server.call('POST', '/jobs', { token, json: { manifests } });
    jids.push(...body.jids);
  }
  const log = name === 'feed-memory' ? join(server.home, 'server.log') : undefined;
  const rest = { url: server.url, log, ca: server.ca, pid: server.pid, database: server.database };
  return { ...rest, token, jids, watchers: [], rate: 0, isLogged: true };
}

const ownAndOperators = (count) =>
  Array.from({ length: count }, (_, n) =>
    n < OPERATORS ? { query: '', hears: 'all' } : { query: `jobGroup=watched-${n}`, hears: 'own' },
  );

/** One figure of a run of watchers. */
const watched = (name, { title, unit, of, note }) => ({
  name: `feed.${name}`,
  title,
  unit,
  better: 'lower',
  rounds: name === 'memory' ? 1 : 3,
  warmUp: false,
  async prepare(bench) {
    const plan = await serverWithJobs(bench, `feed-${name}`);
    const watchers = ownAndOperators(plan.jids.length);
    const jids = plan.jids.slice(OPERATORS);
    const run = { ...plan, jids, watchers, rate: Number(bench.options.moves) };
    return {
      figure: async (seconds) => {
        const result = await bench.process('feed-process.mjs', { ...run, seconds });
        return { value: of(result), p50: result.p50, p99: result.p99, note: note(result) };
      },
    };
  },
});

const heard = ({ heard, expected, perSecond }) =>
  `${heard} of ${expected} heard, ${Math.round(perSecond)} moves/s`;

/** What PostgreSQL has written ahead: unlike the rate of moves, it does not change with the moods of a disk. */
async function written(bench, { database }) {
  const [row] = await bench.sql(
    database,
    `select wal_bytes::float as bytes,
      (select sum(fsyncs)::float from pg_stat_io where object = 'wal') as syncs from pg_stat_wal`,
  );
  return row;
}

/** Submitting jobs through two services of which one does not log what moves. */
function requests(manifests) {
  const manifest = { Executable: '/bin/true', JobName: 'bench', Sites: ['LOCAL.demo'] };
  const json = manifests === 1 ? manifest : { manifests: Array(manifests).fill(manifest) };
  return {
    name: `feed.submits-${manifests}`,
    title: `POST /jobs with ${manifests} of them, 16 connections, with their events`,
    unit: 'jobs/s',
    better: 'higher',
    floor: 'the same requests to a service whose statements lack the part that logs',
    async prepare(bench) {
      const run = async (name, env) => {
        // Of modules: what is preloaded changes the database driver, which the bundle has for itself.
        const server = await bench.server({ name, env, entry: 'main-of-modules.js' });
        const token = await server.token('alice');
        const headers = { 'content-type': 'application/json' };
        const post = { server, token, method: 'POST', path: '/jobs', headers, connections: 16 };
        return async (seconds) => {
          const load = { ...post, body: JSON.stringify(json), seconds };
          const { value, p50, p99 } = await bench.load(load);
          return { value: value * manifests, p50, p99 };
        };
      };
      return {
        figure: await run('feed-logged', {}),
        floor: await run('feed-unlogged', { NODE_OPTIONS: `--import=${WITHOUT_LOG}` }),
      };
    },
  };
}

export const figures = [
  watched('delay', {
    title:
      'p99 from the commit of a move to its watcher over TLS, one instance, most watch their own jobs',
    unit: 'ms',
    of: ({ p99 }) => p99,
    note: heard,
  }),
  watched('memory', {
    title: 'resident memory of the server for each watcher over TLS, without garbage',
    unit: 'KiB',
    of: ({ kibPerWatcher }) => kibPerWatcher,
    note: heard,
  }),
  {
    name: 'feed.writing',
    title: 'moves of jobs with their events, 10 a statement, one connection',
    unit: 'moves/s',
    better: 'higher',
    floor: 'the same statement without the part that logs',
    async prepare(bench) {
      const plan = await serverWithJobs(bench, 'feed-writing');
      const run = (isLogged) => async (seconds) => {
        const before = await written(bench, plan);
        const input = { ...plan, isLogged, seconds };
        const result = await bench.process('feed-process.mjs', input);
        const after = await written(bench, plan);
        const each = (name) => (after[name] - before[name]) / result.moves;
        bench.log(
          `${isLogged ? 'with' : 'without'} events: ${Math.round(each('bytes'))} bytes of WAL and ${each('syncs').toFixed(3)} syncs of it a move`,
        );
        return { value: result.perSecond };
      };
      return { figure: run(true), floor: run(false) };
    },
  },
  ...[1, 100].map((manifests) => requests(manifests)),
];
