import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterEach,
  beforeEach,
  describe,
  expect,
  it,
  jest,
  afterAll,
  beforeAll,
} from '@jest/globals';
import type { Request } from 'express';
import { createLogger } from '#src/runtime/logger.js';
import { Metrics } from '#src/runtime/metrics.js';
import { setRequestId } from './messages.js';
import { watchLoop, LoopStalls, Collections, fromScheduler, threadTime } from './watch-loop.js';
import { RequestsUnderWay } from './request-middleware.js';

const NAME = 'gridgate_event_loop_stall_seconds';

/** Value of a line of the metric. */
async function value(metrics: Metrics, line: string): Promise<number> {
  const { text } = await metrics.render();
  const found = text.split('\n').find((one) => one.startsWith(`${NAME}${line} `));
  return Number(found?.split(' ')[1]);
}

function request(method: string, path: string, id: string, route?: string): Request {
  const made = { method, originalUrl: path, ...(route && { route: { path: route } }) };
  setRequestId(made as Request, id);
  return made as Request;
}

describe('stalls of the event loop', () => {
  let metrics: Metrics;
  let workedMs: number;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    metrics = new Metrics();
    workedMs = 1_000;
  });
  afterEach(() => void jest.useRealTimers());

  it('are the longest of a hundred stretches between two looks', async () => {
    const stalls = new LoopStalls(
      metrics,
      () => undefined,
      () => workedMs,
    );
    stalls.start();
    for (let look = 1; look <= 100; look += 1) {
      workedMs += look === 40 ? 260 : 2;
      jest.advanceTimersByTime(10);
    }
    stalls.stop();
    workedMs += 5_000;
    jest.advanceTimersByTime(1_000);
    const lines = ['_bucket{le="0.25"}', '_bucket{le="0.5"}', '_count', '_sum'];
    const values = await Promise.all(lines.map((line) => value(metrics, line)));
    expect(values).toEqual([0, 1, 1, 0.26]);
  });

  it('are there at a scrape, each once', async () => {
    const stalls = new LoopStalls(
      metrics,
      () => undefined,
      () => workedMs,
    );
    stalls.start();
    workedMs += 70;
    jest.advanceTimersByTime(10);
    expect([await value(metrics, '_sum'), await value(metrics, '_count')]).toEqual([0.07, 1]);
    stalls.stop();
  });

  it('above 100 ms are told with the requests under way and those that have just ended', async () => {
    const lines: string[] = [];
    const logger = createLogger('warn', { write: (line) => lines.push(line) });
    const underWay = new RequestsUnderWay();
    const worked = (milliseconds: number): void => {
      workedMs += milliseconds;
      jest.advanceTimersByTime(10);
    };
    const stalls = watchLoop({ metrics, logger }, underWay, () => workedMs);
    stalls.start();
    const listing = request('GET', '/jobs?maxJobs=3', 'r1', '/jobs');
    const submit = request('POST', '/jobs/x?access_token=secret', 'r2');
    underWay.begin(listing);
    underWay.end(underWay.begin(submit));
    worked(100);
    underWay.end(underWay.begin(submit));
    worked(100.6);
    worked(300);
    jest.useRealTimers();
    while (lines.length < 2) await new Promise((resolve) => setImmediate(resolve));
    stalls.stop();
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      {
        level: 'warn',
        stallMs: 101,
        gcMs: expect.any(Number),
        requests: ['POST /jobs/x r2', 'GET /jobs r1'],
      },
      { level: 'warn', stallMs: 300, gcMs: expect.any(Number), requests: ['GET /jobs r1'] },
    ]);
  });
});

describe('garbage collections of a stretch', () => {
  it('are those that began in it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
    const collections = new Collections();
    collections.start();
    const before = performance.now();
    collect({ type: 'minor' });
    const within = await collections.since(before);
    const after = await collections.since(performance.now());
    collections.stop();
    expect(within).toBeGreaterThan(0);
    expect(after).toBe(0);
  });
});

describe('processor time of this thread', () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'thread-time-'));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it('grows by what the thread works, not by what it waits', () => {
    const now = threadTime();
    const before = now();
    const { user, system } = process.cpuUsage();
    // Other threads of the process have a part of what it spends, but never all of it.
    for (let spent = 0; now() - before < 20 && spent < 5_000_000;) {
      const usage = process.cpuUsage({ user, system });
      spent = usage.user + usage.system;
    }
    expect(now() - before).toBeGreaterThanOrEqual(20);
    const [rested, began] = [now(), performance.now()];
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    expect(now() - rested).toBeLessThan((performance.now() - began) / 2);
  });

  it('is the first number of the figures, in nanoseconds', () => {
    const path = join(directory, 'schedstat');
    writeFileSync(path, '2500000 700 3\n');
    expect(fromScheduler(path)?.()).toBe(2.5);
  });

  it('has another source where the system shows no such figures', () => {
    const path = join(directory, 'other');
    writeFileSync(path, 'not here\n');
    expect([fromScheduler(path), fromScheduler(join(directory, 'none'))]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
