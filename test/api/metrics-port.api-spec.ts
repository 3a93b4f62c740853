import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { freePort } from '../support/ports.mjs';
import { startGrid, type Grid } from '../support/testbed.js';

let grid: Grid;
let port: number;

beforeAll(async () => {
  port = await freePort();
  grid = await startGrid({ env: { GRID_METRICS_PORT: String(port) } });
});

afterAll(async () => {
  await grid?.remove();
});

async function inner(path: string, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const answer = await request(`http://127.0.0.1:${port}${path}`, { method });
  const type = String(answer.headers['content-type']);
  return { status: answer.statusCode, type, text: await answer.body.text() };
}

describe('GRID_METRICS_PORT', () => {
  it('has metrics and probes there, in plain HTTP', async () => {
    const metrics = await inner('/metrics');
    expect({ status: metrics.status, type: metrics.type.split(';')[0] }).toEqual({
      status: 200,
      type: 'text/plain',
    });
    expect(metrics.text).toContain('\n# TYPE gridgate_http_requests_total counter');
    expect(await inner('/health/live')).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      text: '{"status":"live"}',
    });
    const ready = JSON.parse((await inner('/health/ready')).text) as object;
    expect(ready).toEqual({
      status: 'ready',
      checks: { database: 'ok', migrations: 'ok', signingKey: 'ok', home: 'ok', sandboxes: 'ok' },
    });
  });

  it('has nothing else there', async () => {
    expect((await inner('/jobs')).status).toBe(404);
    expect((await inner('/metrics', 'POST')).status).toBe(405);
    expect(await inner('/metrics', 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  it('takes /metrics, and not the probes, away from the main listener', async () => {
    const answer = await grid.anonymous.get('/metrics');
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 404,
      code: 'route.not-found',
    });
    expect((await grid.anonymous.get('/health/live')).status).toBe(200);
  });

  it('stops a start whose port is taken, naming the variable', async () => {
    await expect(grid.second({ GRID_METRICS_PORT: String(port) })).rejects.toThrow(
      `port ${port} on 127.0.0.1 is in use: stop the other program or set GRID_METRICS_PORT`,
    );
  });
});
