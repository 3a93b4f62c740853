import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep } from '#src/kernel/index.js';
import type { LocalProcessParts } from './local-context.js';
import type { LocalRun } from './local-run.js';
import { RunCleaner } from './run-cleaner.js';
import type { LocalPlace } from './open-place.js';
import { notedGpus, RunDirectory } from './run-directory.js';
import type { Watcher } from '../watch/watcher.js';

/** So many names make a directory of ext4 larger than what is removed at once. */
const MANY = 2_500;
const LARGE_BYTES = 65_536;

describe('what a run has left', () => {
  let root: string;
  let directory: RunDirectory;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'grid-cleaner-'));
    directory = new RunDirectory(join(root, '1.1'));
    directory.create(false);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  let isGone = true;
  const watcher = { ask: () => Promise.resolve(isGone) } as unknown as Watcher;
  const cleaner = (): RunCleaner => {
    const place = {
      isolation: { level: 'namespaces' },
      root: { path: root },
      rights: { empty: () => Promise.resolve(true) },
    };
    const parts = { logger: { warn: () => undefined }, clock: { now: () => (now += 60_000) } };
    return new RunCleaner(
      place as unknown as LocalPlace,
      parts as unknown as LocalProcessParts,
      watcher,
    );
  };
  let now = 0;
  const run = (): LocalRun => ({ directory, traces: () => ({}) }) as unknown as LocalRun;
  const remove = (): Promise<void> => cleaner().remove(run());

  it('is removed at once when it is small', async () => {
    await remove();
    expect(readdirSync(root)).toEqual([]);
  });

  it('is not removed in the turn of everybody when its directory was once full of names', async () => {
    const names = Array.from({ length: MANY }, (_, index) => join(directory.work, `name-${index}`));
    for (const name of names) writeFileSync(name, '');
    for (const name of names) rmSync(name);
    // tmpfs and others forget how large a directory was
    const isLarge = statSync(directory.work).size > LARGE_BYTES;
    await remove();
    expect(existsSync(directory.path)).toBe(false);
    expect(readdirSync(root)).toEqual(isLarge ? [expect.stringMatching(/^1\.1\.gone-/)] : []);
    while (readdirSync(root).length > 0) await sleep(5);
  });
  it('keeps its GPUs while a process of it lives, and goes after that', async () => {
    directory.noteGpus(['/dev/nvidia0']);
    isGone = false;
    const one = cleaner();
    await one.endProcesses(run());
    expect(one.isEnded(run())).toBe(false);
    await one.remove(run());
    const [name = ''] = readdirSync(root);
    expect(name).toMatch(/^1\.1\.gone-/);
    await one.removeUnknown(new Set());
    await one.removeUnknown(new Set());
    expect([readdirSync(root), notedGpus(root)]).toEqual([[name], ['/dev/nvidia0']]);
    isGone = true;
    await one.removeUnknown(new Set());
    while (readdirSync(root).length > 0) await sleep(5);
    expect(one.isEnded(run())).toBe(true);
  });
});
