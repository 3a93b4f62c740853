import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  COLLECTABLE,
  Flood,
  percentile,
  PROXY,
  type CallerReport,
  type FloodReport,
  type Memory,
} from '../support/flood/flood.js';
import { judgeStalls } from '../support/stalls.mjs';
import { startGrid, type Grid } from '../support/testbed.js';

const SECONDS = Number(process.env['GRID_FLOOD_SECONDS'] ?? 20);
const CLIENTS = Number(process.env['GRID_FLOOD_CLIENTS'] ?? 40);
/** How fast is asserted only here: a normal test says nothing of speed. */
const IS_LONG = SECONDS >= 180;
const QUIET_SECONDS = IS_LONG ? 30 : 5;
/** All but of GRID_MAX_BULK_BODY. */
const LARGEST_BYTES = 63 * 2 ** 20;
const MOST_GROWTH_MIB = 64;
const MOST_HEAP_GROWTH_MIB = 24;
const LIVE_MS = 50;
const MOST_TIMES_QUIET = 5;

describe(`${CLIENTS} hostile clients for ${SECONDS} s (GRID_FLOOD_CLIENTS, GRID_FLOOD_SECONDS)`, () => {
  let grid: Grid;
  let flood: Flood;
  let stallsIn: string;
  let alone: FloodReport;
  let attack: FloodReport;
  let quiet: CallerReport;
  let busy: CallerReport;
  const memory: Memory[] = [];

  beforeAll(
    async () => {
      stallsIn = await mkdtemp(join(tmpdir(), 'grid-flood-'));
      grid = await startGrid({
        node: COLLECTABLE,
        stallsIn,
        env: { GRID_ROLE: 'api', GRID_TRUSTED_PROXIES: PROXY, GRID_PROGRESS_TIMEOUT: '3' },
      });
      flood = await Flood.prepare(grid, IS_LONG ? LARGEST_BYTES : LARGEST_BYTES / 32);
      alone = await flood.oneByOne();
      judgeStalls(stallsIn); // each alone: it is known which one it was
      await flood.warmUp(CLIENTS);
      // The process keeps pages that it once needed, so growth is told from the state after a flood of the same kind.
      await flood.flood({ clients: CLIENTS, seconds: SECONDS / 2 });
      await flood.memory();
      quiet = await flood.callersFor(QUIET_SECONDS);
      memory.push(await flood.memory());
      [attack, busy] = await Promise.all([
        flood.flood({ clients: CLIENTS, seconds: SECONDS }),
        flood.callersFor(SECONDS),
      ]);
      memory.push(await flood.memory());
      print();
    },
    (2 * SECONDS + 400) * 1_000,
  );
  afterAll(async () => {
    await flood?.end();
    await grid?.remove();
    await rm(stallsIn, { recursive: true, force: true });
  });

  function print(): void {
    const shown = Object.keys(busy.times).map((name) => {
      const [before, during] = [quiet.times[name] ?? [], busy.times[name] ?? []];
      const times = [before, during].map((all) =>
        [50, 99].map((percent) => percentile(all, percent).toFixed(1)).join('/'),
      );
      return `  ${name}: ${times.join(' → ')} ms (p50/p99 quiet → flooded, ${during.length} calls)`;
    });
    const { requests, statuses } = attack;
    const lines = [
      `${requests} hostile requests: ${JSON.stringify(statuses)}`,
      `load average ${loadavg().join(' ')}`,
      `memory (MiB) ${JSON.stringify(memory)}`,
      ...shown,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }

  it('are each served alone, those with JSON at every operation', () => {
    expect(alone.faults).toEqual([]);
    expect(alone.requests).toBeGreaterThan(200);
  });

  it('are answered what the document says, and of 5xx only 503 with Retry-After', () => {
    expect(attack.faults).toEqual([]);
    expect(attack.requests).toBeGreaterThan(CLIENTS);
    const errors = Object.keys(attack.statuses).filter((status) => Number(status) >= 500);
    expect(errors.filter((status) => status !== '503')).toEqual([]);
  });

  it('do not hold it up for longer all together', () => {
    expect(() => judgeStalls(stallsIn)).not.toThrow();
  });

  it('leave no memory behind', () => {
    const [before, after] = memory;
    const growthOf = (part: keyof Memory): number =>
      (after?.[part] ?? NaN) - (before?.[part] ?? NaN);
    expect(growthOf('resident')).toBeLessThanOrEqual(MOST_GROWTH_MIB);
    expect(growthOf('heap')).toBeLessThanOrEqual(MOST_HEAP_GROWTH_MIB);
  });

  it('do not keep others from being served', async () => {
    expect(busy.faults).toEqual([]);
    expect((await grid.anonymous.get('/health/ready')).status).toBe(200);
    expect(grid.server.child.exitCode).toBeNull();
  });

  it('do not make others wait, in a long flood', () => {
    if (!IS_LONG) return;
    const slow = Object.entries(busy.times).filter(([name, times]) => {
      const most =
        name === 'live' ? LIVE_MS : MOST_TIMES_QUIET * percentile(quiet.times[name] ?? [], 99);
      return !(percentile(times, 99) <= most);
    });
    expect(slow.map(([name, times]) => `${name}: ${percentile(times, 99)} ms`)).toEqual([]);
  });
});
