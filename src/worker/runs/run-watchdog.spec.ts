import { describe, expect, it } from '@jest/globals';
import { secondsOfBoot } from '../watch/process-table.js';
import type { LocalContext } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { RunWatchdog } from './run-watchdog.js';

describe('the limit of wall-clock time', () => {
  /** A run that began a minute ago, whatever the clock of the machine says now. */
  async function reasonAfter(limit: number, clockStepMs: number): Promise<string | undefined> {
    const run = {
      order: { cpuTime: 1e9, manifest: {} },
      directory: { path: '/run', outputs: () => new Map(), noteLimit: () => undefined },
      plan: {},
      traces: () => ({}),
      startedMs: Date.now(),
      startedSeconds: secondsOfBoot() - 60,
      limitReason: undefined,
    } as unknown as LocalRun;
    const use = { rssBytes: 0, cpuSeconds: 0, processes: 1 };
    const context = {
      parts: {
        config: { jobWallTime: limit, jobMemoryMb: 1, jobProcesses: 9 },
        clock: { now: () => Date.now() + clockStepMs },
      },
      place: { isolation: { level: 'namespaces' } },
      watcher: { ask: () => Promise.resolve({ '/run': use }) },
      cleaner: { endProcesses: () => Promise.resolve() },
      memoryReason: () => undefined,
    } as unknown as LocalContext;
    await new RunWatchdog(context).watch([run]);
    return run.limitReason;
  }
  const HOUR_MS = 3_600_000;

  it('counts what has passed, wherever the clock is set', async () => {
    const told = expect.stringMatching(/\|Ran longer than 50 s$/);
    expect(await reasonAfter(50, 0)).toEqual(told);
    expect(await reasonAfter(50, -HOUR_MS)).toEqual(told);
    expect(await reasonAfter(3_000, HOUR_MS)).toBeUndefined();
  });
});
