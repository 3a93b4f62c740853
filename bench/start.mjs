/** The start of a server on a known home with its embedded PostgreSQL, to its first job, and what it keeps when idle. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchServer } from './frame/bench-server.mjs';
import { runToEnd } from './frame/processes.mjs';
import { familyOf, processorTime } from './frame/processor-time.mjs';

const IDLE_MS = 10_000;
const STARTS = 3;
const POLL_MS = 20;

/** A home on which a server has run once. */
async function knownHome(bench, more) {
  const home = await bench.directory();
  const server = await started(bench, home, more);
  await server.stop();
  return home;
}

/** As an administrator starts it first: no database named, no demo. */
function started({ checkout }, home, more = { GRID_DEMO: 'false' }) {
  const env = { GRID_ROLE: undefined, DATABASE_URL: undefined, ...more };
  return BenchServer.start({ home, env, profile: '', checkout });
}

/** Seconds from the start of the process to its word that it is ready, and the processor time until then, PostgreSQL's included. */
async function oneStart(bench, home) {
  const began = performance.now();
  const server = await started(bench, home);
  const seconds = (performance.now() - began) / 1000;
  const processor = processorTime(server.pid) / 1000;
  await server.stop();
  return { value: seconds, note: `${processor.toFixed(2)} s of processor time` };
}

const ready = {
  name: 'start.ready',
  title: 'start to ready, known home, embedded PostgreSQL, no demo',
  unit: 's',
  better: 'lower',
  floor: 'Node with an empty program',
  rounds: STARTS,
  warmUp: false,
  async prepare(bench) {
    const home = await knownHome(bench);
    return {
      figure: () => oneStart(bench, home),
      floor: async () => {
        const began = performance.now();
        await runToEnd(process.execPath, ['-e', '0']);
        return (performance.now() - began) / 1000;
      },
    };
  },
};

/** Starts with demo data and runs one job; answers the server and the seconds from the start to the word that the job is Done. */
async function firstJob(bench, home) {
  const began = performance.now();
  const server = await started(bench, home, { GRID_DEMO: 'true' });
  const token = await server.token('alice');
  const json = { Executable: '/bin/true', Sites: ['LOCAL.demo'] };
  const { body } = await server.call('POST', '/jobs', { token, json });
  const path = `/jobs/${body.jids[0]}/history`;
  let last;
  while (last !== 'Done') {
    if (last === 'Failed') throw new Error('the job has failed');
    await sleep(POLL_MS);
    last = (await server.call('GET', path, { token })).body.history.at(-1).status;
  }
  return { server, seconds: (performance.now() - began) / 1000 };
}

const job = {
  name: 'start.job',
  title: 'start with demo data, known home, to the first job Done',
  unit: 's',
  better: 'lower',
  rounds: STARTS,
  warmUp: false,
  async prepare(bench) {
    const home = await knownHome(bench, { GRID_DEMO: 'true' });
    return {
      figure: async () => {
        const { server, seconds } = await firstJob(bench, home);
        await server.stop();
        return seconds;
      },
    };
  },
};

const memory = {
  name: 'start.memory',
  title: `resident memory of the service, its worker and what starts programs, ${IDLE_MS / 1000} s after the first job`,
  unit: 'MiB',
  better: 'lower',
  rounds: STARTS,
  warmUp: false,
  async prepare(bench) {
    const home = await knownHome(bench, { GRID_DEMO: 'true' });
    return {
      figure: async () => {
        const { server } = await firstJob(bench, home);
        await sleep(IDLE_MS);
        const sizes = familyOf(server.pid).flatMap(({ id }) => sizeOf(id) ?? []);
        const { peak } = await server.memory();
        await server.stop();
        const sum = (of) => sizes.reduce((all, size) => all + size[of], 0);
        const each = sizes.map(({ name, resident }) => `${name} ${Math.round(resident)}`);
        const shared = `${Math.round(sum('proportional'))} with shared pages counted once`;
        const note = `${each.join(', ')}; ${shared}; peak of the service ${Math.round(peak)}`;
        return { value: sum('resident'), note };
      },
    };
  },
};

/** MiB of a process that Node runs; undefined for any other, as those of PostgreSQL, and for one that has ended. */
function sizeOf(pid) {
  try {
    const [program, ...words] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    if (program !== process.execPath) return undefined;
    const sizes = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const of = (name) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(sizes)[1]) / 1024;
    const script = basename(words.find((word) => word.endsWith('.js')));
    return { name: script.replace(/[.].*/, ''), resident: of('Rss'), proportional: of('Pss') };
  } catch {
    return undefined;
  }
}

export const figures = [ready, job, memory];
