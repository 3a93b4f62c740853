/**
 * Claims jobs as an instance does whose machine has room without end. Reads a plan from standard input: {database, home, executor,
 * batch, seconds}; prints {claims, jids, p50, p99, perSecond}. Times are milliseconds of a claim, with the look at who waits.
 */
import { text } from 'node:stream/consumers';
import { quantile } from './statistics.mjs';

const { database, home, executor: id, batch, seconds } = JSON.parse(await text(process.stdin));
Object.assign(process.env, { DATABASE_URL: database, GRID_HOME: home, GRID_ROLE: 'api' });

const { CliContext } = await import('#src/cli/admin/context.js');
const { Matcher } = await import('#src/jobs/matching/matcher.js');

const WARM_UP = 5;
const ROOM = 1_000_000;
const executor = {
  ...{ id, backend: 'local-process', freeSlots: () => batch, load: () => 0 },
  serves: ({ backend: wanted }) => wanted === 'local-process',
  freeMachine: () => ({ processors: ROOM, ahead: 0, ramMB: ROOM * 1024 }),
};

const context = new CliContext();
try {
  const matcher = (await context.application()).get(Matcher, { strict: false });
  for (let claim = 0; claim < WARM_UP; claim += 1) await matcher.claim(executor);
  const jids = [];
  const times = [];
  const began = performance.now();
  while (performance.now() < began + seconds * 1000) {
    const start = performance.now();
    const { orders } = await matcher.claim(executor);
    times.push(performance.now() - start);
    for (const { jid } of orders) jids.push(Number(jid));
    if (orders.length === 0) break;
  }
  const perSecond = (jids.length * 1000) / (performance.now() - began);
  times.sort((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((part) => quantile(times, part));
  process.stdout.write(JSON.stringify({ claims: times.length, jids, p50, p99, perSecond }));
} finally {
  await context.close();
}
process.exit();
