/** What the queue costs when millions wait: claims, submits and lists, beside a queue of a hundredth. */
import { fillQueue, requeue } from './job-data/waiting.mjs';

export const options = {
  waiting: { default: '1000000', description: 'jobs that wait (figures of the queue)' },
};

const BATCH = 100;
const INSTANCES = 4;
const BULK = 1_000;
const FLOOR = 'the same of a hundredth of the jobs';
const JOB = { Executable: '/bin/true', JobName: 'bench' };

let claimers = 0;

/** The server with a queue of `count` jobs, made once a run: {server, token, count}. */
function filledQueue(bench, count) {
  return bench.once(`queue-${count}`, () => fill(bench, count));
}

async function fill(bench, count) {
  const server = await bench.server({ name: `queue-${count}` });
  const began = Date.now();
  await fillQueue(server.database, count);
  bench.log(`${count} waiting jobs filled in ${Math.round((Date.now() - began) / 1000)} s`);
  return { server, count, token: await server.token('alice') };
}

/** A figure of the whole queue, whose floor is the same of a hundredth. */
function ofQueue(name, title, { unit = 'ms', better = 'lower', ...rest }, asks) {
  return {
    ...{ name: `queue.${name}`, title, unit, better, floor: FLOOR, ...rest },
    async prepare(bench) {
      const count = Number(bench.options.waiting);
      const large = await filledQueue(bench, count);
      const small = await filledQueue(bench, count / 100);
      return { figure: asks(bench, large), floor: asks(bench, small) };
    },
  };
}

/** Claims of instances at once, taken back afterwards; throws when a job was given twice. */
async function claims(bench, { server: { home, database } }, instances, seconds) {
  const plans = Array.from({ length: instances }, () => ({
    ...{ home, database, seconds, batch: BATCH, executor: `bench-${(claimers += 1)}` },
  }));
  const all = await Promise.all(plans.map((plan) => bench.claims(plan)));
  const jids = all.flatMap((one) => one.jids);
  if (new Set(jids).size < jids.length) throw new Error('a job was given to two instances');
  await requeue(database);
  return all;
}

const claim = (bench, queue) => async (seconds) => {
  const [{ p50, p99 }] = await claims(bench, queue, 1, seconds);
  return { value: p50, p50, p99 };
};
const matches = (instances) => (bench, queue) => async (seconds) => {
  const all = await claims(bench, queue, instances, seconds);
  const [p50, p99] = ['p50', 'p99'].map((part) => Math.max(...all.map((one) => one[part])));
  return { value: all.reduce((sum, { perSecond }) => sum + perSecond, 0), p50, p99 };
};
const read =
  (path) =>
  (bench, { server, token }) =>
  async (seconds) => {
    const { p50, p99 } = await bench.load({ server, path, token, seconds, connections: 1 });
    return { value: p50, p50, p99 };
  };
const submit = (json) => {
  const body = JSON.stringify(json);
  return (bench, { server, token }) =>
    async (seconds) => {
      const headers = { 'content-type': 'application/json' };
      const wish = { server, path: '/jobs', method: 'POST', token, headers, body, seconds };
      const { p50, p99 } = await bench.load({ ...wish, connections: 1 });
      return { value: p50, p50, p99 };
    };
};

const RATE = { unit: 'jobs/s', better: 'higher' };

export const figures = [
  ofQueue('claim', `a claim of ${BATCH} jobs, by one instance`, {}, claim),
  ofQueue('matches', 'jobs matched by one instance', RATE, matches(1)),
  ofQueue('matches-4', `jobs matched by ${INSTANCES} instances at once`, RATE, matches(INSTANCES)),
  ofQueue('submit', 'POST /jobs, one job', {}, submit(JOB)),
  ofQueue(
    'submit-bulk',
    `POST /jobs, ${BULK} jobs`,
    {},
    submit({ manifests: Array.from({ length: BULK }, () => JOB) }),
  ),
  ofQueue('list', 'GET /jobs?maxJobs=100, own jobs', {}, read('/jobs?maxJobs=100')),
  ofQueue('list-status', 'GET /jobs, own that wait', {}, read('/jobs?maxJobs=100&status=Waiting')),
  ofQueue('summary', 'GET /jobs/summary of everybody', {}, read('/jobs/summary?allOwners=true')),
  ofQueue('explain', 'GET /jobs/<jid>/explain of one in the middle', {}, (bench, queue) =>
    read(`/jobs/${Math.floor(queue.count / 20) * 10 + 1}/explain`)(bench, queue),
  ),
];
