import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Config } from '#src/config/index.js';
import type { DiskPlaces, ScheduledTask, Scheduler } from '#src/runtime/index.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { Cleaner } from './cleaner.js';

it('an instance that runs no jobs removes what a crash left in its spool, too', async () => {
  const home = await mkdtemp(join(tmpdir(), 'grid-cleaner-'));
  const config = { role: 'api', sandboxStore: 's3://bucket', homePath: home } as Config;
  const spool = new SandboxSpool(config, { add: () => undefined } as unknown as DiskPlaces);
  const [old, young] = [await spool.newPath(), await spool.newPath()];
  await writeFile(old, 'x');
  await writeFile(young, 'x');
  await utimes(old, new Date(0), new Date(0));
  const tasks: ScheduledTask[] = [];
  const scheduler = { add: (task: ScheduledTask) => tasks.push(task) } as unknown as Scheduler;
  const clock = { now: () => Date.now() };
  const unused = undefined as never;
  new Cleaner(config, clock, unused, scheduler, unused, spool, unused).onApplicationBootstrap();
  for (const task of tasks) await task.run(undefined as never);
  expect(await readdir(join(home, 'sandboxes', 'spool'))).toEqual([young.split('/').at(-1)]);
  await rm(home, { recursive: true });
});
