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

  it('grows by what the thread works, not by what it waits', async () => {
    const now = threadTime();
    const before = now();
    const { user, system } = process.cpuUsage();
    for (let spent = 0; spent < 100_000;) {
      const usage = process.cpuUsage({ user, system });
      spent = usage.user + usage.system;
    }
    const worked = now() - before;
    // Other threads of the process may have had a part of it.
    expect(worked).toBeGreaterThan(30);
    const rested = now();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(now() - rested).toBeLessThan(100);
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
