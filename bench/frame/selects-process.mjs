/** One prepared statement over and over on several connections: the floor of everything that reads the database. */
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { Latencies } from './latencies.mjs';

const plan = JSON.parse(await text(process.stdin));
const latencies = new Latencies();
let next = 0;

async function connection(until) {
  const client = new pg.Client({ connectionString: plan.database });
  await client.connect();
  while (performance.now() < until) {
    const started = performance.now();
    const values = plan.values[next++ % plan.values.length];
    await client.query({ name: 'floor', text: plan.text, values });
    latencies.add(performance.now() - started);
  }
  await client.end();
}

const started = performance.now();
const until = started + plan.seconds * 1000;
await Promise.all(Array.from({ length: plan.connections }, () => connection(until)));
process.stdout.write(JSON.stringify(latencies.summary((performance.now() - started) / 1000)));
