/** Figures of reading jobs: one job, and lists of a table with --jobs jobs. */
import { filledJobs, pathAfter } from './job-data/filled.mjs';

/** Options of this file. */
export const options = {
  jobs: { default: '1000000', description: 'jobs in the table (figures of lists)' },
};

const MANIFEST = {
  Executable: '/bin/true',
  Arguments: '',
  JobName: 'bench',
  Sites: ['LOCAL.demo'],
};
const PAGE = 100;
const PAGE_PATH = `/jobs?maxJobs=${PAGE}`;
const ALL_PATH = `${PAGE_PATH}&allOwners=true`;

async function submitted(server, token, count) {
  const json = { manifests: Array.from({ length: count }, () => MANIFEST) };
  const answer = await server.call('POST', '/jobs', { token, json });
  return answer.body.jids;
}

const filled = (bench) => filledJobs(bench, Number(bench.options.jobs));

const read = {
  name: 'jobs.read',
  title: 'GET /jobs/<jid>, verified token, keep-alive TLS',
  unit: 'req/s',
  better: 'higher',
  floor: 'bare node:https + one prepared select of the same row',
  async prepare(bench) {
    const server = await bench.server();
    const token = await server.token('alice');
    const jids = await submitted(server, token, 500);
    const paths = jids.map((jid) => `/jobs/${jid}`);
    const bare = await bench.bare({
      database: server.database,
      text: 'select * from jobs where jid = $1',
      values: jids.map((jid) => [jid]),
    });
    return {
      figure: (seconds) => bench.load({ server, paths, token, seconds }),
      floor: (seconds) => bench.load({ server: bare, paths, seconds }),
      finish: () => bare.stop(),
    };
  },
};

/** A list beside the rows of one prepared select, written as JSON by a bare server. */
function list({ name, title, floor, path, text, values }) {
  return {
    name: `jobs.${name}`,
    title,
    unit: 'req/s',
    better: 'higher',
    floor,
    async prepare(bench) {
      const { server, token } = await filled(bench);
      const bare = await bench.bare({ database: server.database, text, values, rows: true });
      return {
        figure: (seconds) => bench.load({ server, path, token, seconds }),
        floor: (seconds) => bench.load({ server: bare, path: '/', seconds }),
        finish: () => bare.stop(),
      };
    },
  };
}

/** A page far down beside the first page of the same list, both through the service. */
function deep(name, title, pathOf) {
  return {
    name: `jobs.${name}`,
    title,
    unit: 'req/s',
    better: 'higher',
    floor: 'the first page of the same list',
    async prepare(bench) {
      const { server, token, count } = await filled(bench);
      const path = await pathOf({ server, token, middle: Math.floor(count / 2) });
      return {
        figure: (seconds) => bench.load({ server, path, token, seconds }),
        floor: (seconds) => bench.load({ server, path: ALL_PATH, token, seconds }),
      };
    },
  };
}

const offsetPath = ({ middle }) => `${ALL_PATH}&startJob=${middle}`;

const cursorPath = (table) => pathAfter(table, offsetPath(table));

const SAME_ROWS = `bare node:https + the ${PAGE}-row select + JSON.stringify`;

export const figures = [
  read,
  list({
    name: 'page',
    title: `GET ${PAGE_PATH}, own jobs`,
    floor: SAME_ROWS,
    path: PAGE_PATH,
    text: `select * from jobs where setup = $1 and owner = $2 order by jid desc limit ${PAGE}`,
    values: [['Prod', 'alice']],
  }),
  list({
    name: 'page-status',
    title: `GET ${PAGE_PATH}&status=Failed&site=…, own jobs`,
    floor: SAME_ROWS,
    path: `${PAGE_PATH}&status=Failed&site=LOCAL.spare`,
    text: `select * from jobs where setup = $1 and owner = $2 and status = $3 and site = $4
      order by jid desc limit ${PAGE}`,
    values: [['Prod', 'alice', 'Failed', 'LOCAL.spare']],
  }),
  deep('page-deep', 'GET /jobs?startJob=<half of the table>, all owners', offsetPath),
  deep('page-cursor', 'GET /jobs?after=<cursor in the middle>, all owners', cursorPath),
  list({
    name: 'summary',
    title: 'GET /jobs/summary by status, own jobs',
    floor: 'bare node:https + the sum over the counters',
    path: '/jobs/summary',
    text: `select status, sum(n) as n from job_totals where setup = $1 and owner = $2 group by status`,
    values: [['Prod', 'alice']],
  }),
];
