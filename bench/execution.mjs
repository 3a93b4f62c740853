/** Figures of executing jobs on this machine, isolated as it ships but where a peer does not isolate its own. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Agent, request } from 'undici';
import { runToEnd } from './frame/processes.mjs';
import { familyOf, processorTime } from './frame/processor-time.mjs';
import { quantile } from './frame/statistics.mjs';

/** A Python with HyperQueue in it is looked for here. */
const PYTHON = join(homedir(), '.cache/gridgate-bench/hyperqueue/bin/python');

export const options = {
  'age-jobs': { default: '50000', description: 'jobs between the two rates of execution.ageing' },
};

const JOBS = 500;
const LATENCY_JOBS = 40;
/** A worker is given the run and asks to start it; the service writes the job, its match and its start. */
const [TRIPS, COMMITS] = [2, 3];
/** HyperQueue's client looks once a second whether all are done. */
const TASKS = 2_000;
/** Jobs that are submitted at once between two rates, and how long a server rests after the last. */
const BULK = 2_500;
const REST_MS = 30_000;
const MANIFEST = { Executable: '/bin/true', JobName: 'bench', Sites: ['LOCAL.demo'] };
const POLL_MS = 20;

/** A server that executes jobs, kept apart at that level. */
async function executing(bench, level = 'auto') {
  const env = { GRID_ROLE: 'all', GRID_LOCAL_ISOLATION: level };
  const server = await bench.server({ name: `executing-${level}`, env });
  return { server, token: await server.token('alice') };
}

const pause = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));

/** Waits until none of alice's jobs is on its way; throws when one has failed. */
async function awaitDone(server, token) {
  for (;;) {
    const { body } = await server.call('GET', '/jobs?maxJobs=1&status=Done', { token });
    const all = await server.call('GET', '/jobs?maxJobs=1', { token });
    const failed = await server.call('GET', '/jobs?maxJobs=1&status=Failed', { token });
    if (failed.body.entries > 0) throw new Error(`${failed.body.entries} jobs have failed`);
    if (body.entries === all.body.entries) return;
    await pause();
  }
}

const done = {
  name: 'execution.done',
  title: `${JOBS} jobs /bin/true, submit to the last Done, local-process`,
  unit: 'jobs/s',
  better: 'higher',
  floor: 'xargs -P <CPUs> starting /bin/true as often',
  async prepare(bench) {
    const grid = await executing(bench);
    return {
      figure: () => rateOfBulk(grid),
      floor: () => rate(xargs),
    };
  },
};

async function rate(work) {
  const started = performance.now();
  await work();
  return (JOBS * 1_000) / (performance.now() - started);
}

function xargs() {
  const args = ['-P', String(availableParallelism()), '-n', '1', '/bin/true'];
  return new Promise((resolve, reject) => {
    const child = spawn('xargs', args, { stdio: ['pipe', 'ignore', 'inherit'] });
    child.on('error', reject);
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`xargs ended with ${code}`)),
    );
    child.stdin.end('x\n'.repeat(JOBS));
  });
}

/** The rate of the jobs of a bulk, from its submission to the last Done. */
async function rateOfBulk({ server, token }) {
  return rate(async () => {
    await server.call('POST', '/jobs', { token, json: { manifests: Array(JOBS).fill(MANIFEST) } });
    await awaitDone(server, token);
  });
}

/** The same, with the processor time that a job takes. */
async function rateWithTime(grid) {
  const { pid } = grid.server;
  const used = () => [familyOf(pid)[0].usedMs, processorTime(pid)];
  const before = used();
  const value = await rateOfBulk(grid);
  const [service, all] = used().map((usedMs, at) => Math.round((usedMs - before[at]) / JOBS));
  const note = `a job ${all} ms of processor time, PostgreSQL's not counted; the service's process ${service}`;
  return { value, note };
}

const isolated = {
  name: 'execution.isolated',
  title: `${JOBS} isolated jobs /bin/true, submit to the last Done`,
  unit: 'jobs/s',
  better: 'higher',
  floor: 'the same isolating command as often, by as many shell loops as processors',
  async prepare(bench) {
    const grid = await executing(bench);
    const rest = { means: 'best', kind: 'bare', starts: JOBS, parallel: availableParallelism() };
    return {
      figure: () => rateWithTime(grid),
      floor: async () => {
        const plan = { home: await bench.directory(), ballastMiB: 1, ...rest };
        const { seconds, means } = await bench.process('starts-process.mjs', plan);
        return { value: JOBS / seconds, note: means };
      },
    };
  },
};

const hyperQueue = {
  name: 'execution.hyperqueue',
  title: `${JOBS} jobs /bin/true at level none, submit to the last Done`,
  unit: 'jobs/s',
  better: 'higher',
  floor: `HyperQueue: ${TASKS} tasks of one job, a worker with all processors`,
  async prepare(bench) {
    if (!existsSync(PYTHON)) {
      bench.log(`execution.hyperqueue is left out: there is no ${PYTHON}`);
      return undefined;
    }
    const grid = await executing(bench, 'none');
    const script = new URL('frame/hyperqueue-process.py', import.meta.url).pathname;
    return {
      figure: () => rateWithTime(grid),
      floor: async () => {
        const args = [script, await bench.directory(), String(TASKS)];
        const { signal } = bench.cancel;
        const said = await runToEnd(PYTHON, args, { signal, env: process.env });
        return TASKS / Number(/^seconds (\S+)/m.exec(said)[1]);
      },
    };
  },
};

/** Whether a server that has run many jobs is as fast as a fresh one, and as small. */
const ageing = {
  name: 'execution.ageing',
  title: `rate of ${JOBS} jobs after the many, of the rate before them`,
  unit: 'of 1',
  better: 'higher',
  rounds: 1,
  warmUp: false,
  async prepare(bench) {
    const grid = await executing(bench);
    const { server, token } = grid;
    return {
      figure: async () => {
        await rateOfBulk(grid);
        const before = await rateOfBulk(grid);
        const jobs = Number(bench.options['age-jobs']);
        for (let done = 0; done < jobs; done += BULK) {
          const json = { manifests: Array(BULK).fill(MANIFEST) };
          await server.call('POST', '/jobs', { token, json });
          await awaitDone(server, token);
          bench.log(`${done + BULK} jobs, ${Math.round((await server.memory()).now)} MiB`);
        }
        const after = await rateOfBulk(grid);
        await new Promise((resolve) => setTimeout(resolve, REST_MS));
        const { now, peak } = await server.memory();
        const rates = `${before.toFixed(0)} → ${after.toFixed(0)} jobs/s`;
        const sizes = `${Math.round(now)} MiB ${REST_MS / 1000} s later (peak ${Math.round(peak)})`;
        return { value: after / before, note: `${rates} over ${jobs} jobs, ${sizes}` };
      },
    };
  },
};

const latency = {
  name: 'execution.latency',
  title: `submit to Running, one job at a time, p50 of ${LATENCY_JOBS}`,
  unit: 'ms',
  better: 'lower',
  floor: `${TRIPS} round trips to bare node:https and ${COMMITS} commits of PostgreSQL, one after the other`,
  warmUp: false,
  async prepare(bench) {
    const { server, token } = await executing(bench);
    const bare = await bench.bare({ body: '{}' });
    const dispatcher = new Agent({ connect: { ca: bare.ca } });
    const client = new pg.Client({ connectionString: server.database });
    await client.connect();
    await client.query('create table bench_commit (n integer)');
    return {
      figure: () => p50Of(() => toRunning(server, token)),
      floor: () =>
        p50Of(async () => {
          const began = performance.now();
          for (let n = 0; n < TRIPS; n += 1) {
            await (await request(bare.url, { method: 'POST', body: '{}', dispatcher })).body.dump();
          }
          for (let n = 0; n < COMMITS; n += 1) {
            await client.query({ name: 'commit', text: 'insert into bench_commit values (1)' });
          }
          return performance.now() - began;
        }),
      finish: async () => {
        await client.end();
        await dispatcher.destroy();
      },
    };
  },
};

async function p50Of(work) {
  const times = [];
  for (let n = 0; n < LATENCY_JOBS; n += 1) times.push(await work());
  const [p50, p99] = [0.5, 0.99].map((part) => quantile(times, part));
  return { value: p50, p50, p99 };
}

/** Milliseconds between the first and the Running line of a job's history. */
async function toRunning(server, token) {
  const { body } = await server.call('POST', '/jobs', { token, json: MANIFEST });
  for (;;) {
    const answer = await server.call('GET', `/jobs/${body.jids[0]}/history`, { token });
    const { history } = answer.body;
    if (history.at(-1).status === 'Done') {
      const running = history.find(({ status }) => status === 'Running');
      return Date.parse(running.time) - Date.parse(history[0].time);
    }
    await pause();
  }
}

export const figures = [done, isolated, hyperQueue, latency, ageing];
