import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LimitsRepository } from '../../src/jobs/limits/limits.repository.js';
import { DispatchRepository } from '../../src/jobs/matching/dispatch.repository.js';
import { Match } from '../../src/jobs/matching/match.js';
import { LanesRepository } from '../../src/jobs/matching/lanes.repository.js';
import { QueueRepository } from '../../src/jobs/matching/queue.repository.js';
import { JobsRepository } from '../../src/jobs/state/jobs.repository.js';
import { systemClock } from '../../src/kernel/index.js';
import type { EventLog } from '../../src/events/index.js';
import { DEMO_REGISTRY, RegistrySnapshot, type Site } from '../../src/registry/index.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

const SITE: Site = {
  ...{ name: 'A', backend: 'slurm', options: {}, tags: ['gpu'] },
  limits: { running: 40, tags: { gpu: 3 } },
};
const GROUP_LIMITS = { grid_user: { running: 12, ownerRunning: 7 }, grid_share: { running: 5 } };
const REGISTRY = new RegistrySnapshot(
  {
    ...DEMO_REGISTRY,
    sites: [SITE],
    groups: DEMO_REGISTRY.groups.map((group) => ({
      ...group,
      limits: GROUP_LIMITS[group.name as keyof typeof GROUP_LIMITS] ?? {},
    })),
    users: DEMO_REGISTRY.users.map((user) => ({
      ...user,
      ...(user.name === 'bob' && { limits: { running: 8 } }),
    })),
  },
  1,
);

/** Jobs that are held, by what is limited. */
interface Held {
  user: number;
  alice: number;
  share: number;
  bob: number;
  gpu: number;
  site: number;
}

const MOST: Held = { user: 12, alice: 7, share: 5, bob: 8, gpu: 3, site: 40 };

describe('limits of running jobs', () => {
  let scratch: ScratchDatabase;
  let claimers: QueueRepository[];
  let lanes: LanesRepository;
  beforeAll(async () => {
    scratch = await scratchDatabase();
    lanes = new LanesRepository(await scratch.open());
    claimers = await Promise.all([1, 2, 3, 4].map(() => claimer()));
    for (const [owner, group, tags] of [
      ...[['alice', 'grid_user', ''] as const, ['bob', 'grid_user', ''] as const],
      ...[['bob', 'grid_share', ''] as const, ['carol', 'grid_mon', 'gpu'] as const],
      ['carol', 'grid_mon', ''] as const,
    ]) {
      await scratch.dataSource.query(
        `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group, job_type, site,
            priority, cpu_time, submission_time, last_update, tags)
          select 'Prod', $1, '', $2, '', 'Waiting', '', '', '', '', 'ANY', 1, 1, now(), now(), string_to_array($3, ',')
          from generate_series(1, 600)`,
        [owner, group, tags],
      );
    }
    await scratch.dataSource.query(
      `insert into job_descriptions (jid, manifest) select jid, '{}' from jobs`,
    );
    await scratch.dataSource.query('analyze jobs');
  });
  afterAll(() => scratch?.remove());

  const claimer = async (): Promise<QueueRepository> => {
    const database = await scratch.open();
    const events = { wrote: () => undefined } as unknown as EventLog;
    const jobs = new JobsRepository(database, undefined as never, undefined as never, events);
    const dispatch = new DispatchRepository(database, jobs, systemClock);
    const limits = new LimitsRepository();
    return new QueueRepository(database, jobs, dispatch, events, limits, systemClock);
  };

  const claim = async (number: number): Promise<number> => {
    const queue = claimers[number] as QueueRepository;
    const match = new Match({
      heads: await lanes.heads({ limit: 1_000 }),
      sites: [SITE],
      machine: { processors: Infinity, ahead: 0, ramMB: Infinity },
      limit: 6,
      now: Date.now(),
      reserveMs: 0,
      limits: REGISTRY,
      load: () => 0,
    });
    if (match.isVain) return 0;
    const { jobs } = await queue.claim({ executor: `e${number}`, sites: [SITE], match });
    return jobs.length;
  };

  const held = async (): Promise<Held> => {
    const [row]: Held[] = await scratch.dataSource.query(
      `select count(*) filter (where owner_group = 'grid_user')::integer as user,
          count(*) filter (where owner_group = 'grid_user' and owner = 'alice')::integer as alice,
          count(*) filter (where owner_group = 'grid_share')::integer as share,
          count(*) filter (where owner = 'bob')::integer as bob,
          count(*) filter (where 'gpu' = any (tags))::integer as gpu, count(*)::integer as site
        from jobs where executor is not null`,
    );
    return row as Held;
  };

  const expectWithin = (now: Held): void => {
    for (const name of Object.keys(MOST) as (keyof Held)[]) {
      expect([name, Math.max(now[name], MOST[name])]).toEqual([name, MOST[name]]);
    }
  };

  it('are never exceeded by four instances that claim at once, and what is limited stops nobody else', async () => {
    for (let round = 0; round < 25; round += 1) {
      const [a, b, c, d, during] = await Promise.all([
        claim(0),
        claim(1),
        claim(2),
        claim(3),
        held(),
      ]);
      expectWithin(during);
      expectWithin(await held());
      if (a + b + c + d > 0 && round < 20) continue;
      await scratch.dataSource.query(
        `update jobs set executor = null, status = 'Done' where jid in (
          select jid from jobs where executor is not null order by random() limit 9)`,
      );
    }
    while ((await Promise.all([0, 1, 2, 3].map((number) => claim(number)))).some((n) => n > 0));
    const full = await held();
    expectWithin(full);
    // Everything that another limit leaves room for is used: bob's of two groups share his own.
    expect(full).toMatchObject({ gpu: 3, bob: 8, site: 40 });
    const twice: unknown[] = await scratch.dataSource.query(
      `select jid from job_history where status = 'Matched' group by jid having count(*) > 1`,
    );
    expect(twice).toEqual([]);
  });
});
