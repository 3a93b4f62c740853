import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { atUsualPace } from '../support/pace.mjs';
import { refuseStalls } from '../support/stalls.mjs';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

/** Makes the server's thread work for 500 ms at SIGUSR2, and lets it rest for three seconds then. */
const STALLING = `let free = 0;
process.on('SIGUSR2', () => {
  if (Date.now() < free) return;
  const { user, system } = process.cpuUsage();
  for (let spent = 0; spent < 500_000; ) {
    const now = process.cpuUsage();
    spent = now.user - user + now.system - system;
  }
  free = Date.now() + 3_000;
});`;

/** What the guard says of the stalls in the directory; undefined when there are none. */
function refusal(...input: Parameters<typeof refuseStalls>): string | undefined {
  try {
    refuseStalls(...input);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

it('a bound of processor time is never more than four times the usual one', () => {
  const usual = atUsualPace(100);
  expect(usual).toBeGreaterThanOrEqual(25);
  expect(usual).toBeLessThanOrEqual(100);
});

describe('a request that holds up the event loop of a test server', () => {
  let grid: Grid;
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grid-stalls-'));
    const node = ['--import', `data:text/javascript,${encodeURIComponent(STALLING)}`];
    grid = await startGrid({ node, stallsIn: directory, env: { GRID_ROLE: 'api' } });
  }, 60_000);
  afterAll(async () => {
    await grid?.remove();
    await rm(directory, { recursive: true, force: true });
  }, 60_000);

  it('makes the run fail with its name, and is seen in the metrics', async () => {
    expect(refusal(directory)).toBeUndefined();
    const token = (await grid.as('alice')).token ?? '';
    const socket = connect({
      port: Number(new URL(grid.url).port),
      host: 'localhost',
      ca: grid.ca,
    });
    socket.on('error', () => undefined);
    const head = ['Host: localhost', `Authorization: Bearer ${token}`, 'Content-Length: 100'];
    const type = 'Content-Type: application/json';
    socket.write(`POST /jobs HTTP/1.1\r\n${[...head, type].join('\r\n')}\r\n\r\n{`);
    const stalled = new RegExp(
      '^  \\d{3,} ms \\(\\d+ at the usual pace, \\d+ of them garbage collection\\) during "api/stall-guard.api-spec.ts ' +
        'a request .* makes the run fail with its name, .*", under way: .*POST /jobs [\\w-]{8,}',
      'm',
    );
    const said = await eventually(() => {
      grid.server.child.kill('SIGUSR2');
      return Promise.resolve(stalled.exec(refusal(directory) ?? '')?.[0]);
    }, 'a stall with the request');
    expect(said).toMatch(stalled);
    const { body } = await grid.anonymous.get<string>('/metrics');
    const count = (line: string): number =>
      Number(new RegExp(`^gridgate_event_loop_stall_seconds_${line} (\\d+)$`, 'm').exec(body)?.[1]);
    expect(count('count') - count('bucket{le="0.1"}')).toBeGreaterThan(0);
    socket.destroy();
  });

  it('is let pass by an exception that names it until its day', () => {
    const pattern = /stall-guard/;
    expect(refusal(directory, [{ pattern, until: '9999-12-31' }])).toBeUndefined();
    expect(refusal(directory, [{ pattern, until: '2026-01-01' }])).toMatch(/held up/);
    expect(refusal(directory, [{ pattern: /other/, until: '9999-12-31' }])).toMatch(/held up/);
  });
});
