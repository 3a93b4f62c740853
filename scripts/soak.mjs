/**
 * npm run soak [-- --minutes 5 --workers 8 --json]: one server under mixed load, its memory looked at every two
 * seconds. Ends with 1 when memory is not flat or an answer was not the expected one. Nothing of npm test.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BenchServer } from '../bench/frame/bench-server.mjs';
import { buildWhenNeeded } from './run.mjs';

const SAMPLE_MS = 2_000;
/** The first part of a run is warm-up: caches fill and code gets compiled. */
const WARM_UP = 0.3;
/** What the median may grow from one half of the rest to the other. */
const GROWTH = { share: 0.1, mib: 16 };

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    workers: { type: 'string', default: '8' },
    json: { type: 'boolean', default: false },
  },
});
const milliseconds = Number(options.minutes) * 60_000;
const encode = (path) => Buffer.from(path).toString('base64url');
const manifest = { Executable: '/bin/true', JobName: 'soak' };

/** What the load consists of: name → one action. Any other status than the expected one is a failure. */
function actions(server, tokens) {
  const { alice, mona } = tokens;
  let jids = [1];
  const any = () => jids[Math.floor(Math.random() * jids.length)];
  const expect = async (status, call) => {
    const seen = await call().then(
      (answer) => answer.status,
      (error) => Number(/: (\d{3}) /.exec(error.message)?.[1]) || error.message,
    );
    if (seen !== status) throw new Error(`${seen} instead of ${status}`);
  };
  const get = (path, token = alice) => server.call('GET', path, { token });
  return {
    list: () => get('/jobs?maxJobs=50'),
    deepPage: () => get('/jobs?allOwners=true&maxJobs=20&startJob=100', mona),
    summary: () => get('/jobs/summary?allOwners=true&group=status', mona),
    job: () => get(`/jobs/${any()}`),
    history: () => get(`/jobs/${any()}/history`),
    submit: async () => {
      const answer = await server.call('POST', '/jobs', { token: alice, json: manifest });
      jids = [...jids.slice(-500), ...answer.body.jids];
    },
    submitMany: () => {
      const json = {
        manifests: Array.from({ length: 20 }, () => ({ ...manifest, Sites: ['LOCAL.none'] })),
      };
      return expect(400, () => server.call('POST', '/jobs', { token: alice, json }));
    },
    search: () => get(`/filecatalogue/directory/${encode('/demo')}/search`),
    directory: () => get(`/filecatalogue/directory/${encode('/vo')}?verbose=true`),
    values: () => get('/filecatalogue/metadata?maxValues=20'),
    register: () => {
      const path = `/vo/soak/d${Math.floor(Math.random() * 50)}/f${Math.floor(Math.random() * 1_000)}`;
      return server.call('PUT', `/filecatalogue/file/${encode(path)}`, {
        token: alice,
        json: { Size: 1 },
      });
    },
    token: () => server.token('alice'),
    wrongToken: () => expect(401, () => get('/jobs', `x${Math.random()}`)),
    wrongQuery: () => expect(400, () => get('/jobs?maxJobs=none')),
    unknownPath: () => expect(404, () => get(`/none/${Math.random()}`)),
    brokenBody: () => {
      const headers = { 'content-type': 'application/json' };
      return expect(400, () =>
        server.call('POST', '/jobs', { token: alice, headers, body: '{"a":' }),
      );
    },
  };
}

/** Memory of the server as its metrics say, MiB. */
async function memoryOf(server) {
  const { body } = await server.call('GET', '/metrics');
  const value = (name) =>
    Number(new RegExp(`^${name} ([\\d.e+]+)$`, 'm').exec(body)?.[1]) / 2 ** 20;
  return {
    rss: value('process_resident_memory_bytes'),
    heap: value('nodejs_heap_size_used_bytes'),
    external: value('nodejs_external_memory_bytes'),
  };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Medians of the two halves after the warm-up. */
function halves(samples, name) {
  const rest = samples.slice(Math.floor(samples.length * WARM_UP)).map((sample) => sample[name]);
  const middle = Math.floor(rest.length / 2);
  return { first: median(rest.slice(0, middle)), second: median(rest.slice(middle)) };
}

function isFlat({ first, second }) {
  return second - first <= Math.max(GROWTH.mib, first * GROWTH.share);
}

async function soak(server) {
  const tokens = { alice: await server.token('alice'), mona: await server.token('mona') };
  await server.call('POST', '/jobs', { token: tokens.alice, json: manifest }); // job 1
  const all = Object.entries(actions(server, tokens));
  const counts = Object.fromEntries(all.map(([name]) => [name, 0]));
  const failures = [];
  const samples = [];
  const end = Date.now() + milliseconds;
  const work = async (worker) => {
    for (let turn = worker; Date.now() < end; turn += 1) {
      const [name, action] = all[turn % all.length];
      try {
        await action();
        counts[name] += 1;
      } catch (error) {
        failures.push(`${name}: ${error.message.slice(0, 200)}`);
      }
    }
  };
  const workers = Array.from({ length: Number(options.workers) }, (_, worker) => work(worker));
  while (Date.now() < end) {
    samples.push(await memoryOf(server));
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  }
  await Promise.all(workers);
  return { counts, failures, samples };
}

await buildWhenNeeded();
const { startEmbeddedPostgres } = await import('#src/embedded-postgres/index.js');
const home = await mkdtemp(join(tmpdir(), 'gridgate-soak-'));
const postgres = await startEmbeddedPostgres({ home: join(home, 'database') });
let server;
try {
  const env = { GRID_ROLE: 'all' };
  server = await BenchServer.start({ home, database: postgres.url, env, profile: '' });
  const { counts, failures, samples } = await soak(server);
  const calls = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const memory = Object.fromEntries(
    ['rss', 'heap', 'external'].map((name) => [name, halves(samples, name)]),
  );
  const peak = Math.max(...samples.map(({ rss }) => rss));
  const flat = isFlat(memory.rss) && isFlat(memory.heap);
  const report = {
    minutes: Number(options.minutes),
    calls,
    counts,
    failures: failures.length,
    memory,
    peak,
    flat,
  };
  if (options.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  else print(report, samples);
  for (const failure of failures.slice(0, 10)) process.stderr.write(`${failure}\n`);
  process.exitCode = flat && failures.length === 0 ? 0 : 1;
} finally {
  await server?.stop();
  await postgres.stop();
  await rm(home, { recursive: true, force: true });
}

function print({ minutes, calls, failures, memory, peak, flat }, samples) {
  const step = Math.max(1, Math.floor(samples.length / 12));
  const shown = samples.filter((_, index) => index % step === 0);
  for (const { rss, heap, external } of shown) {
    const cells = [rss, heap, external].map((mib) => mib.toFixed(0).padStart(6));
    process.stdout.write(`rss ${cells[0]} MiB  heap ${cells[1]} MiB  external ${cells[2]} MiB\n`);
  }
  const rate = (calls / (minutes * 60)).toFixed(0);
  process.stdout.write(`${calls} calls in ${minutes} min (${rate}/s), ${failures} failures\n`);
  for (const [name, { first, second }] of Object.entries(memory)) {
    process.stdout.write(`${name}: median ${first.toFixed(1)} → ${second.toFixed(1)} MiB\n`);
  }
  process.stdout.write(`rss at most ${peak.toFixed(0)} MiB: ${flat ? 'flat' : 'NOT FLAT'}\n`);
}
