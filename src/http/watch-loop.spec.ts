import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Request } from 'express';
import { createLogger } from '#src/runtime/logger.js';
import { LoopStalls } from '#src/runtime/loop-stalls.js';
import { Metrics } from '#src/runtime/metrics.js';
import { setRequestId } from './messages.js';
import { RequestsUnderWay } from './requests-under-way.js';
import { watchLoop } from './watch-loop.js';

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

  it('name requests without query, and long paths by their beginning', () => {
    const underWay = new RequestsUnderWay();
    const long = `/${'a'.repeat(30_000)}`;
    underWay.begin(request('GET', `${long}?access_token=secret`, 'r1'));
    underWay.begin(request('GET', '/short?access_token=secret', 'r2'));
    const token = ['eyJhbGciOiJFUzI1NiJ9', 'c'.repeat(500), 's'.repeat(500)].join('.');
    underWay.begin(request('GET', `/jobs/${token}`, 'r3'));
    expect(underWay.names()).toEqual([
      `GET ${long.slice(0, 256)}… (30001 characters) r1`,
      'GET /short r2',
      'GET /jobs/[hidden] r3',
    ]);
  });

  it('name twenty requests at most', () => {
    const underWay = new RequestsUnderWay();
    for (let index = 0; index < 50; index += 1) underWay.begin(request('GET', '/', `r${index}`));
    expect(underWay.names()).toHaveLength(20);
  });
});
