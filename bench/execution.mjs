/** Figures of executing jobs on this machine. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

const JOBS = 500;
const LATENCY_JOBS = 40;
const MANIFEST = { Executable: '/bin/true', JobName: 'bench', Sites: ['LOCAL.demo'] };
const POLL_MS = 20;

/** A server that executes jobs. */
async function executing(bench) {
  const server = await bench.server({ name: 'executing', env: { GRID_ROLE: 'all' } });
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
    const { server, token } = await executing(bench);
    const json = { manifests: Array(JOBS).fill(MANIFEST) };
    return {
      figure: () =>
        rate(async () => {
          await server.call('POST', '/jobs', { token, json });
          await awaitDone(server, token);
        }),
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

const latency = {
  name: 'execution.latency',
  title: `submit to Running, one job at a time, p50 of ${LATENCY_JOBS}`,
  unit: 'ms',
  better: 'lower',
  warmUp: false,
  async prepare(bench) {
    const { server, token } = await executing(bench);
    return {
      figure: async () => {
        const times = [];
        for (let n = 0; n < LATENCY_JOBS; n += 1) times.push(await toRunning(server, token));
        times.sort((a, b) => a - b);
        return {
          value: times[LATENCY_JOBS / 2],
          p50: times[LATENCY_JOBS / 2],
          p99: times.at(-1),
        };
      },
    };
  },
};

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

export const figures = [done, latency];
