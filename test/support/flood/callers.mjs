/**
 * A process of ordinary callers, who measure how long they wait: the probe of liveness every 20 ms, and people who sign
 * in, submit, list, read and search, one after the other with a pause. Reports the waiting times of each, milliseconds.
 */
import { Agent, request } from 'undici';

const PROBE_EVERY_MS = 20;
const PAUSE_MS = 20;
const encoded = (path) => Buffer.from(path).toString('base64url');

class Watch {
  constructor() {
    this.times = {};
    this.faults = [];
  }

  async timed(name, call) {
    const started = performance.now();
    try {
      const answer = await call();
      const text = await answer.body.text();
      (this.times[name] ??= []).push(performance.now() - started);
      if (answer.statusCode !== 200)
        this.faults.push(`${name}: ${answer.statusCode} ${text.slice(0, 200)}`);
      return text === '' ? undefined : JSON.parse(text);
    } catch (error) {
      this.faults.push(`${name}: ${error.message}`);
      return undefined;
    }
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function probe({ url, ca }, watch, isOver) {
  const dispatcher = new Agent({ connect: { ca }, connections: 1 });
  while (!isOver()) {
    await watch.timed('live', () => request(`${url}/health/live`, { dispatcher }));
    await pause(PROBE_EVERY_MS);
  }
  await dispatcher.destroy();
}

async function person({ url, ca, cert, key, jid }, watch, isOver) {
  const dispatcher = new Agent({ connect: { ca, cert, key } });
  const call = (name, path, token, options = {}) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const all = { dispatcher, ...options, headers: { ...headers, ...options.headers } };
    return watch.timed(name, () => request(`${url}${path}`, all));
  };
  const grant = 'grant_type=client_credentials&group=grid_user&setup=Prod';
  while (!isOver()) {
    const token = (await call('sign in', `/oauth2/token?${grant}`))?.access_token;
    const json = { 'content-type': 'application/json' };
    const body = JSON.stringify({ Executable: '/bin/true', JobName: 'ordinary' });
    await call('submit', '/jobs', token, { method: 'POST', headers: json, body });
    await call('list', '/jobs?maxJobs=10', token);
    await call('read', `/jobs/${jid}`, token);
    await call(
      'search',
      `/filecatalogue/directory/${encoded('/vo')}/search?energy=%3E%7C50`,
      token,
    );
    await pause(PAUSE_MS);
  }
  await dispatcher.destroy();
}

process.on('message', async (order) => {
  const end = Date.now() + order.seconds * 1000;
  const isOver = () => Date.now() > end;
  const watch = new Watch();
  const people = Array.from({ length: order.people }, () => person(order, watch, isOver));
  await Promise.all([probe(order, watch, isOver), ...people]);
  process.send({ times: watch.times, faults: watch.faults.slice(0, 20) });
});
process.on('disconnect', () => process.exit());
