import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Config } from '#src/config/index.js';
import type { DiskPlaces, ScheduledTask, Scheduler } from '#src/runtime/index.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { Cleaner } from './cleaner.js';

/** Which process has made a file. */
const MARK = /[\da-f]{12}\.\d+\.\d+/;

it('an instance that runs no jobs removes what a crash left in its spool, too', async () => {
  const home = await mkdtemp(join(tmpdir(), 'grid-cleaner-'));
  const config = { role: 'api', sandboxStore: 's3://bucket', homePath: home } as Config;
  const spool = new SandboxSpool(config, { add: () => undefined } as unknown as DiskPlaces);
  const [old, young] = [await spool.newPath(), await spool.newPath()];
  await writeFile(old, 'x');
  await writeFile(young, 'x');
  const { pid } = spawnSync('true');
  const named = (mark: string): string => young.replace(MARK, mark);
  const [scope] = MARK.exec(young)?.[0].split('.') ?? [];
  const [ofDead, elsewhere] = [named(`${scope}.${pid}.1`), named(`0123456789ab.${pid}.1`)];
  for (const path of [ofDead, elsewhere]) await writeFile(path, 'x');
  await utimes(old, new Date(0), new Date(0));
  const tasks: ScheduledTask[] = [];
  const scheduler = { add: (task: ScheduledTask) => tasks.push(task) } as unknown as Scheduler;
  const clock = { now: () => Date.now() };
  const unused = undefined as never;
  new Cleaner(config, clock, unused, scheduler, unused, spool, unused).onApplicationBootstrap();
  for (const task of tasks) await task.run(undefined as never);
  const kept = await readdir(join(home, 'sandboxes', 'spool'));
  expect(kept.sort()).toEqual([elsewhere, young].map((path) => basename(path)).sort());
  await rm(home, { recursive: true });
});
