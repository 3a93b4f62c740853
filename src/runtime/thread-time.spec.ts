import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromScheduler, threadTime } from './thread-time.js';

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
