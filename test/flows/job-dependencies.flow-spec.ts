import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitFinal, submit } from '../support/jobs.js';
import { freePorts } from '../support/ports.mjs';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const JOBS = 60;
const WORDS = ['done', 'failed', 'end'] as const;

interface Plan {
  fails: boolean;
  after: { target: number; on: (typeof WORDS)[number] }[];
}

/** Numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function plansOf(random: () => number): Plan[] {
  return Array.from({ length: JOBS }, (_, index) => ({
    fails: random() < 0.2,
    after: Array.from({ length: Math.min(index, Math.floor(random() * 4)) }, () => ({
      target: Math.floor(random() * index),
      on: WORDS[Math.floor(random() * random() * 3)] ?? 'done',
    })),
  }));
}

interface Row {
  jid: string;
  status: string;
  minor: string;
}

const isMet = (status: string, on: string): boolean =>
  on === 'end' || (on === 'done') === (status === 'Done');

describe('random graphs of jobs while instances die', () => {
  let grid: Grid;
  let second: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_SLOTS: '4', GRID_JOB_LEASE: '5' } });
    const [port = 0] = await freePorts(1);
    second = await grid.second({
      GRID_PUBLIC_URL: grid.url,
      GRID_PORT: String(port),
      GRID_LOCAL_SLOTS: '4',
    });
    alice = await grid.as('alice');
  }, 90_000);
  afterAll(async () => {
    await second?.remove();
    await grid?.remove();
  }, 60_000);

  it.each([1, 2, 3])(
    'are run in their order, and nothing waits for ever (seed %i)',
    async (seed) => {
      const random = randomFrom(seed);
      const plans = plansOf(random);
      const manifests = plans.map(({ fails, after }, index) => ({
        Executable: '/bin/sh',
        Arguments: ['-c', `sleep 0.1; exit ${fails ? 1 : 0}`],
        Label: `job ${index}`,
        After: after.map(({ target, on }) => ({ label: `job ${target}`, on })),
      }));
      const jids = await submit(alice, manifests);
      const victims = jids.filter(() => random() < 0.1);
      await second.kill();
      for (const jid of victims) await alice.delete(`/jobs/${jid}`);
      second = await second.again();
      await eventually(
        async () => {
          const [row] = await grid.sql<{ n: string }>(
            `select count(*) as n from jobs where jid = any($1)
            and status not in ('Done', 'Failed', 'Killed', 'Deleted')`,
            [jids],
          );
          return Number(row?.n) === 0 ? true : undefined;
        },
        'all jobs to end',
        150_000,
      );
      await awaitFinal(alice, jids);
      const rows = await grid.sql<Row & Record<string, unknown>>(
        `select j.jid, j.status, j.minor_status as minor,
        (select min(h.id) from job_history h where h.jid = j.jid and h.status = 'Matched') as matched,
        (select min(h.id) from job_history h where h.jid = j.jid
          and h.status in ('Done', 'Failed', 'Killed', 'Deleted')) as ended
        from jobs j where j.jid = any($1) order by j.jid`,
        [jids],
      );
      for (const [index, { after }] of plans.entries()) {
        const row = rows[index];
        if (!row) throw new Error(`no job ${index}`);
        const matched = row['matched'];
        const states = after.map(({ target, on }) => isMet(rows[target]?.status ?? '', on));
        const wasFailedByOthers = row.minor === 'Dependency failed';
        if (wasFailedByOthers) expect(states).toContain(false);
        else if (row.status !== 'Killed') expect(states).not.toContain(false);
        if (matched === null || matched === undefined) continue;
        expect(wasFailedByOthers).toBe(false);
        for (const { target } of after) {
          expect(Number(rows[target]?.['ended'])).toBeLessThan(Number(matched));
        }
      }
      // The last look at news goes on behind the last end of a job.
      const isQuiet = async (): Promise<boolean> =>
        (await grid.sql('select * from job_dependency_news')).length === 0;
      await eventually(isQuiet, 'no news of ends');
    },
    240_000,
  );
});
