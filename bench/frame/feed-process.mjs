/**
 * Moves jobs as an instance does, while others watch them over HTTPS at another one. Reads a plan from standard input: {url, ca,
 * token, pid, log, database, jids, watchers: queries, rate, seconds, isLogged};
 * `log`, where memory is asked for, is that of a process with --inspect-port=0; prints {moves, perSecond, expected, heard, p50, p99,
 * kibPerWatcher}. Times are milliseconds from the end of the commit to the line in the watcher's hands.
 */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { SchedulerRegistry } from '@nestjs/schedule';
import pg from 'pg';
import { pino } from 'pino';
import { DataSource } from 'typeorm';
import { collectGarbage } from './collect-garbage.mjs';
import { quantile } from './statistics.mjs';
import { withoutLog } from './without-log.mjs';

const { systemClock } = await import('#src/kernel/index.js');
const { entities } = await import('#src/app.module.js');
const { MIGRATIONS } = await import('#src/migrations/index.js');
const { ChangeFeed, Database, dataSourceOptions } = await import('#src/database/index.js');
const { EventLog } = await import('#src/events/index.js');
const { Metrics, Scheduler } = await import('#src/runtime/index.js');
const { EventLogRepository } = await import('#src/events/event-log.repository.js');
const { JobsRepository } = await import('#src/jobs/state/jobs.repository.js');

/** As reports of short runs come in: some at once. */
const BATCH = 10;
const PATIENCE_MS = 30_000;
const SETTLE_MS = 2_000;
const WARM_UP_SHARE = 0.2;
/** Jobs go round and round. */
const WAYS = [['Matched'], ['Rescheduled', 'Waiting']];

const plan = JSON.parse(await text(process.stdin));
const agent = new Agent({ ca: plan.ca, keepAlive: false });
/** Name of a move (its minor status) → the time of its commit, or of those who heard of it before that was known here. */
const committed = new Map();
const early = new Map();
const delays = [];

const writer = await openWriter();
try {
  process.stdout.write(JSON.stringify(await measure()));
} finally {
  await writer.stop();
}
process.exit();

async function measure() {
  // The first ones warm the server up: what the others add is what a watcher costs.
  const first = Math.ceil(plan.watchers.length * WARM_UP_SHARE);
  const watchers = await watchAll(plan.watchers.slice(0, first));
  const before = await residentKiB();
  watchers.push(...(await watchAll(plan.watchers.slice(first))));
  const after = await residentKiB();
  const { moves, seconds, expected } = await move();
  const deadline = Date.now() + PATIENCE_MS;
  while (delays.length < expected && Date.now() < deadline) await pause(20);
  for (const end of watchers) end();
  return {
    moves,
    perSecond: moves / seconds,
    expected,
    heard: delays.length,
    p50: quantile(delays, 0.5),
    p99: quantile(delays, 0.99),
    kibPerWatcher: watchers.length === 0 ? 0 : (after - before) / (watchers.length - first),
  };
}

async function watchAll(watchers) {
  const opened = [];
  for (const one of watchers) opened.push(await watch(one));
  if (watchers.length > 0) await pause(SETTLE_MS);
  return opened;
}

/** Without what is only waiting to be collected. */
async function residentKiB() {
  if (plan.log === undefined) return 0;
  await collectGarbage(plan);
  const status = await readFile(`/proc/${plan.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
}

/** Opens a feed; answers how to end it. */
function watch({ query }) {
  return new Promise((resolve, reject) => {
    const call = request(
      `${plan.url}/jobs/events?${query}`,
      {
        agent,
        headers: { authorization: `Bearer ${plan.token}`, accept: 'application/x-ndjson' },
      },
      (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`a watcher got ${answer.statusCode}`));
        let rest = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          const now = performance.now();
          const lines = (rest + chunk).split('\n');
          rest = lines.pop();
          for (const line of lines) hear(line, now);
        });
        answer.on('error', () => undefined);
        resolve(() => call.destroy());
      },
    );
    call.on('error', reject);
    call.end();
  });
}

function hear(line, now) {
  const { data } = line === '' ? {} : JSON.parse(line);
  if (data?.minorStatus === undefined) return;
  const at = committed.get(data.minorStatus);
  if (at !== undefined) delays.push(Math.max(0, now - at));
  else early.set(data.minorStatus, (early.get(data.minorStatus) ?? 0) + 1);
}

/** Moves the jobs one batch after the other at the rate, or as fast as it goes at rate 0. */
async function move() {
  const started = performance.now();
  const until = started + plan.seconds * 1000;
  const hearers = plan.watchers.reduce((sum, { hears }) => sum + (hears === 'all' ? 1 : 0), 0);
  const watched = plan.watchers.some(({ hears }) => hears !== 'all') ? 1 : 0;
  let moves = 0;
  let last = 0;
  for (let turn = 0; performance.now() < until; turn += 1) {
    const steps = WAYS[Math.floor((turn * BATCH) / plan.jids.length) % WAYS.length];
    const jids = Array.from(
      { length: BATCH },
      (_, n) => plan.jids[(turn * BATCH + n) % plan.jids.length],
    );
    const batch = jids.map((jid) => ({
      jid,
      source: 'Bench',
      steps: steps.map((to) => ({ to, minor: `move ${(last += 1)}` })),
    }));
    const moved = new Set((await writer.write(batch)).map(Number)); // without those that stand elsewhere
    const names = batch
      .filter(({ jid }) => moved.has(jid))
      .flatMap((each) => each.steps.map(({ minor }) => minor));
    moves += names.length;
    const now = performance.now();
    for (const name of names) {
      committed.set(name, now);
      for (let n = early.get(name) ?? 0; n > 0; n -= 1) delays.push(0);
      early.delete(name);
    }
    if (plan.rate > 0) {
      const due = started + (moves / plan.rate) * 1000;
      if (due > performance.now()) await pause(due - performance.now());
    }
  }
  const seconds = (performance.now() - started) / 1000;
  return { moves, seconds, expected: moves * (hearers + watched) };
}

/** The repository of jobs as in a service, whose log numbers what it writes; or without the part that logs. */
async function openWriter() {
  const dataSource = await new DataSource(
    dataSourceOptions({
      connection: () => ({ url: plan.database }),
      ...{ poolSize: 4, statementTimeoutSeconds: 20, connectTimeoutSeconds: 5 },
      ...{ entities, migrations: MIGRATIONS },
    }),
  ).initialize();
  const database = new Database(() => dataSource);
  const client = () => new pg.Client({ connectionString: plan.database });
  const changeFeed = new ChangeFeed(client, database);
  const scheduler = new Scheduler(new SchedulerRegistry(), database, pino({ level: 'silent' }));
  const log = new EventLog({
    ...{ database, changeFeed, scheduler, clock: systemClock, metrics: new Metrics() },
    config: { eventRetention: 3600 },
    repository: new EventLogRepository(database),
  });
  if (plan.isLogged) {
    log.onApplicationBootstrap();
    changeFeed.start();
  }
  const jobs = new JobsRepository(database, undefined, undefined, log);
  const bare = {
    query: ({ text: statement, values }) =>
      database.query({ name: 'bare-move', text: withoutLog(statement), values }),
    afterCommit: () => undefined,
  };
  return {
    write: (moves) => jobs.move(moves, new Date(), plan.isLogged ? undefined : bare),
    stop: async () => {
      await scheduler.onModuleDestroy();
      log.onModuleDestroy();
      if (plan.isLogged) await changeFeed.stop();
      await dataSource.destroy();
    },
  };
}
