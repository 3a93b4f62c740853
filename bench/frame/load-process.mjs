/**
 * The load generator: keep-alive connections that each send the next prepared request as soon as the answer of the
 * last one is complete. It reads no more of an answer than its length, so that it takes little of the machine it
 * shares with the server. `each` names a header and its values, of which every request has the next one. With `rate` (requests/s of all connections) each sends when its turn has come instead, and an
 * answer's time counts from then on, also where the last answer was late. Input as JSON on standard input, result as JSON on
 * standard output.
 */
import tls from 'node:tls';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Latencies } from './latencies.mjs';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

const plan = JSON.parse(await text(process.stdin));
const target = new URL(plan.url);
const latencies = new Latencies();
let next = plan.first ?? 0;
const requests =
  plan.first === undefined ? plan.paths.map((path) => rawRequest(path, plan.body)) : undefined;
let stopped = false;

function nextRequest() {
  const turn = next++;
  if (plan.each) return rawRequest(plan.paths[turn % plan.paths.length], plan.body, turn);
  if (requests) return requests[turn % requests.length];
  return rawRequest(plan.paths[0], plan.body.replace('{n}', String(turn).padStart(9, '0')));
}

function rawRequest(path, text, turn) {
  const body = Buffer.from(text ?? '');
  const headers = { host: target.host, ...plan.headers };
  if (plan.body !== undefined) headers['content-length'] = body.length;
  if (turn !== undefined) {
    const { name, values } = plan.each;
    if (turn >= values.length) throw new Error(`there are only ${values.length} values of ${name}`);
    headers[name] = values[turn];
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${plan.method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Reads one answer after the other from the bytes of a connection; `done(status)` after each. */
function answerReader(done) {
  let pending = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const headEnd = pending.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = pending.toString('latin1', 0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    const bodyStart = headEnd + 4;
    const complete =
      length === undefined
        ? /^HTTP\/1.1 (204|304)/.test(head) || pending.subarray(-5).equals(LAST_CHUNK)
        : pending.length >= bodyStart + Number(length);
    if (!complete) return;
    pending = Buffer.alloc(0);
    done(Number(head.slice(9, 12)), head);
  };
}

/** Milliseconds between two requests of a connection; undefined: one after the other. */
const everyMs = plan.rate === undefined ? undefined : (1000 * plan.connections) / plan.rate;

function connection(_, place) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      host: target.hostname,
      port: Number(target.port),
      servername: target.hostname,
      ca: plan.ca,
      cert: plan.pair?.cert,
      key: plan.pair?.key,
    });
    socket.setNoDelay(true);
    let started = 0;
    // The connections begin one after the other, so that their turns lie between each other.
    let due = performance.now() + (everyMs ?? 0) * (place / plan.connections);
    const send = async () => {
      started = performance.now();
      if (everyMs !== undefined) {
        if (due - started >= 1) await sleep(due - started);
        started = due;
        due += everyMs;
      }
      socket.write(nextRequest());
    };
    const finish = () => {
      socket.destroy();
      resolve();
    };
    socket.once('secureConnect', send);
    socket.on(
      'data',
      answerReader((status, head) => {
        latencies.add(performance.now() - started);
        if (status < 200 || status > 299) {
          socket.destroy();
          reject(new Error(`answer ${status}: ${head.split('\r\n', 1)[0]}`));
        } else if (stopped) finish();
        else send();
      }),
    );
    socket.once('error', reject);
    socket.once('close', () => (stopped ? resolve() : reject(new Error('the server hung up'))));
  });
}

const started = performance.now();
setTimeout(() => (stopped = true), plan.seconds * 1000);
try {
  await Promise.all(Array.from({ length: plan.connections }, connection));
  process.stdout.write(JSON.stringify(latencies.summary((performance.now() - started) / 1000)));
} catch (error) {
  process.stderr.write(`load: ${error.message}\n`);
  process.exit(1);
}
