/** What workers elsewhere cost the service: 200 that wait for jobs, and a claim of many runs. */
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { processorTime } from './frame/processor-time.mjs';
import { quantile } from './frame/statistics.mjs';
import { fillQueue, requeue } from './job-data/waiting.mjs';

const SITE = 'DESK.bench';
const WORKERS = 200;
/** As the program asks for. */
const WAIT_SECONDS = 25;
/** Two claims of each. */
const IDLE_MS = 2 * WAIT_SECONDS * 1000;
const RUNS = 100;
const WAITING = 10_000;
const LEAST_CLAIMS = 10;
/** Of a claim as far as the table of jobs goes: no look at who waits, no history, no answer. */
const BARE_CLAIM = `
  with taken as (select jid from jobs where status = 'Waiting' order by jid limit ${RUNS} for update)
  update jobs j set status = 'Matched', minor_status = 'Assigned', site = '${SITE}', executor = 'bench', last_update = now()
    from taken where j.jid = taken.jid returning j.*`;

/** A worker that runs nothing: its requests are those of the program, with its key, and a proof and the nonce in each. */
class PlayedWorker {
  answered = 0;
  seq = 0;
  over = new AbortController();

  constructor(link, id, machine) {
    Object.assign(this, { link, id, machine });
  }

  static async registered(bench, { server, secret }, machine) {
    const { ServiceLink } = await bench.module('worker/exchange/service-link.js');
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const link = new ServiceLink({ server: server.url, ca: join(server.home, 'pki/ca.crt'), key });
    const facts = { isolation: 'namespaces', ...machine };
    const json = { site: SITE, secret, protocol: 1, name: 'bench', version: '0.2.0', facts };
    const { id, token } = await link.json('POST', '/workers', { json, isBare: true });
    link.token = token;
    return new PlayedWorker(link, id, machine);
  }

  async claim(most) {
    this.seq += 1;
    const { seq, machine: free } = this;
    const json = { seq, most, holding: [], stopping: [], free, wait: WAIT_SECONDS };
    const options = { json, silenceSeconds: WAIT_SECONDS + 10, signal: this.over.signal };
    return this.link.json('POST', `/workers/${this.id}/claims`, options);
  }

  /** Has a claim open all the time. */
  idle() {
    this.life = this.waits().catch((error) => (this.fault = error));
  }

  async waits() {
    while (!this.over.signal.aborted) {
      await this.claim(1);
      this.answered += 1;
    }
  }

  /** Leaves the service as the program does. */
  async end() {
    this.over.abort();
    await this.life;
    await this.link.request('DELETE', `/workers/${this.id}`);
    await this.link.close();
  }
}

/** A server with a site of workers, and a secret for as many as want it. */
async function siteOfWorkers(bench, name, role) {
  const server = await bench.server({ name, env: { GRID_ROLE: role } });
  const id = randomBytes(6).toString('hex');
  const secret = `gridgate-site.${id}.${randomBytes(32).toString('base64url')}`;
  const hash = createHash('sha256').update(secret).digest('base64url');
  await bench.sql(
    server.database,
    `insert into registry_site (name, position, backend, options) values ($1, 50, 'worker', '{}')`,
    [SITE],
  );
  await bench.sql(
    server.database,
    `insert into site_secret (id, site, hash, reusable, created_at, created_by)
      values ($1, $2, $3, true, now(), 'bench')`,
    [id, SITE, hash],
  );
  return { server, secret };
}

/** What idle workers cost; `machineOf` says what the one of that number has. */
function idle(name, title, machineOf) {
  return {
    name: `workers.${name}`,
    title: `${title}: processor time of the service, of one processor, beyond that without them`,
    unit: '%',
    better: 'lower',
    warmUp: false,
    rounds: 1,
    async prepare(bench) {
      const site = await bench.once('workers', () => siteOfWorkers(bench, 'workers', 'all'));
      const pids = [site.server.pid, await postmasterOf(bench, site.server.database)];
      return {
        figure: async () => {
          const without = await percentOf(pids);
          const workers = [];
          try {
            for (let n = 0; n < WORKERS; n += 1) {
              workers.push(await PlayedWorker.registered(bench, site, machineOf(n)));
              workers[n].idle();
            }
            while (workers.some(({ answered }) => answered === 0)) await faultless(workers, 100);
            const [beginning, before] = [performance.now(), answersOf(workers)];
            const withThem = await percentOf(pids);
            await faultless(workers, 0);
            const seconds = (performance.now() - beginning) / 1000;
            const [service, postgres] = withThem.map((percent, at) => percent - without[at]);
            const claims = (answersOf(workers) - before) / seconds;
            const note = `${claims.toFixed(1)} claims/s; ${without[0].toFixed(1)} % without; PostgreSQL ${postgres.toFixed(1)} % more`;
            return { value: service, note };
          } finally {
            await Promise.all(workers.map((worker) => worker.end()));
          }
        },
      };
    },
  };
}

async function postmasterOf(bench, database) {
  const [{ data_directory: path }] = await bench.sql(database, 'show data_directory');
  return Number((await readFile(join(path, 'postmaster.pid'), 'latin1')).split('\n', 1)[0]);
}

/** What each of these processes and those below it use of one processor, in percent. */
async function percentOf(pids) {
  const [began, before] = [performance.now(), pids.map(processorTime)];
  await sleep(IDLE_MS);
  const lasted = performance.now() - began;
  return pids.map((pid, at) => ((processorTime(pid) - before[at]) * 100) / lasted);
}

const answersOf = (workers) => workers.reduce((sum, { answered }) => sum + answered, 0);

async function faultless(workers, milliseconds) {
  await sleep(milliseconds);
  const fault = workers.find((worker) => worker.fault)?.fault;
  if (fault) throw fault;
}

const claim = {
  name: 'workers.claim',
  title: `POST /workers/<id>/claims that gets ${RUNS} runs while ${WAITING} jobs wait`,
  unit: 'ms',
  better: 'lower',
  floor: `one UPDATE of ${RUNS} waiting rows with the triggers of their table`,
  async prepare(bench) {
    const site = await siteOfWorkers(bench, 'claimed', 'api');
    const { database } = site.server;
    await fillQueue(database, WAITING);
    const machine = { processors: 10_000, ramMB: 10_000_000 };
    const worker = await PlayedWorker.registered(bench, site, machine);
    const client = new pg.Client({ connectionString: database });
    await client.connect();
    const bare = { name: 'bare-claim', text: BARE_CLAIM };
    return {
      figure: claims(database, async () => (await worker.claim(RUNS)).runs),
      floor: claims(database, async () => (await client.query(bare)).rows),
      finish: async () => {
        await client.end();
        await worker.end();
      },
    };
  },
};

/** Times of what gives out runs; before each the same jobs wait. */
const claims = (database, take) => async (seconds) => {
  const times = [];
  const until = performance.now() + seconds * 1000;
  while (performance.now() < until || times.length < LEAST_CLAIMS) {
    const began = performance.now();
    const runs = await take();
    times.push(performance.now() - began);
    if (runs.length !== RUNS) throw new Error(`a claim got ${runs.length} runs`);
    await requeue(database);
  }
  const [p50, p99] = [0.5, 0.99].map((part) => quantile(times, part));
  return { value: p50, p50, p99 };
};

export const figures = [
  idle('idle', `${WORKERS} idle workers of one kind`, () => ({ processors: 4, ramMB: 8_000 })),
  idle('idle-mixed', `${WORKERS} idle workers, each with other memory`, (n) => ({
    ...{ processors: 4, ramMB: 8_000 + n },
  })),
  claim,
];
