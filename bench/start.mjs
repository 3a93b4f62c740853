/** The start of a server on a known home with its embedded PostgreSQL and without demo data, and what it keeps when idle. */
import { BenchServer } from './frame/bench-server.mjs';
import { runToEnd } from './frame/processes.mjs';
import { processorTime } from './frame/processor-time.mjs';

const IDLE_MS = 10_000;
const STARTS = 3;

/** A home on which a server has run once. */
async function knownHome(bench) {
  const home = await bench.directory();
  const server = await started(home);
  await server.stop();
  return home;
}

/** As an administrator starts it first: no database named, no demo. */
function started(home) {
  const env = { GRID_DEMO: undefined, GRID_ROLE: undefined, DATABASE_URL: undefined };
  return BenchServer.start({ home, env, profile: '' });
}

/** Seconds from the start of the process to its word that it is ready, and the processor time until then, PostgreSQL's included. */
async function oneStart(home) {
  const began = performance.now();
  const server = await started(home);
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
      figure: () => oneStart(home),
      floor: async () => {
        const began = performance.now();
        await runToEnd(process.execPath, ['-e', '0']);
        return (performance.now() - began) / 1000;
      },
    };
  },
};

const memory = {
  name: 'start.memory',
  title: `resident memory ${IDLE_MS / 1000} s after such a start`,
  unit: 'MiB',
  better: 'lower',
  rounds: STARTS,
  warmUp: false,
  async prepare(bench) {
    const home = await knownHome(bench);
    return {
      figure: async () => {
        const server = await started(home);
        await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
        const { now, peak } = await server.memory();
        await server.stop();
        return { value: now, note: `peak ${Math.round(peak)} MiB` };
      },
    };
  },
};

export const figures = [ready, memory];
