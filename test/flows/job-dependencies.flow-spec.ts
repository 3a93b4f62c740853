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

/** A job and what its history says, by the numbers of its lines. */
interface Told {
  jid: string;
  status: string;
  minor: string;
  /** First time that it was given to a place to run. */
  matched: number | null;
  ends: { id: number; status: string; minor: string }[];
  reschedules: number;
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
  });
  afterAll(async () => {
    await second?.remove();
    await grid?.remove();
  });

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
      const tried = new Set<number>();
      await eventually(
        async () => {
          const left = await grid.sql<{ jid: string; status: string }>(
            `select jid, status from jobs where jid = any($1) and status not in ('Done', 'Killed', 'Deleted')`,
            [jids],
          );
          const failed = left
            .filter(({ status }) => status === 'Failed')
            .map(({ jid }) => Number(jid));
          // Half of those that fail, and of those that failed for others, are sent back once, while others wait for them.
          const next = failed.find((jid) => !tried.has(jid));
          if (next !== undefined) {
            tried.add(next);
            if (random() < 0.5) {
              const { status } = await alice.post(`/jobs/${next}/reschedule`);
              expect(status).toBe(200);
            }
            return undefined;
          }
          return left.length === failed.length ? true : undefined;
        },
        'all jobs to end',
        150_000,
      );
      await awaitFinal(alice, jids);
      const rows = await grid.sql<Told & Record<string, unknown>>(
        `select j.jid, j.status, j.minor_status as minor, j.reschedules,
        (select min(h.id)::float8 from job_history h where h.jid = j.jid and h.status = 'Matched') as matched,
        (select coalesce(json_agg(json_build_object('id', h.id, 'status', h.status, 'minor', h.minor_status) order by h.id), '[]')
          from job_history h
          where h.jid = j.jid and h.status in ('Done', 'Failed', 'Killed', 'Deleted')) as ends
        from jobs j where j.jid = any($1) order by j.jid`,
        [jids],
      );
      expect(rows.filter(({ reschedules }) => reschedules > 0).length).toBeGreaterThan(0);
      for (const [index, { after }] of plans.entries()) {
        const row = rows[index];
        if (!row) throw new Error(`no job ${index}`);
        /** For each of its conditions, how they were judged before that line of the history. */
        const judgedBefore = (line: number): boolean[][] =>
          after.map(({ target, on }) =>
            (rows[target]?.ends ?? [])
              .filter(({ id }) => id < line)
              .map(({ status }) => isMet(status, on)),
          );
        const { matched } = row;
        // What has run has seen each of its conditions come true before.
        if (matched !== null) {
          for (const judged of judgedBefore(matched)) expect(judged).toContain(true);
        } else if (row.status !== 'Killed') expect(row.minor).toBe('Dependency failed');
        // What failed for another one has seen one that did not come true.
        for (const { id } of row.ends.filter(({ minor }) => minor === 'Dependency failed')) {
          expect(judgedBefore(id).flat()).toContain(false);
        }
      }
      // The last look at news goes on behind the last end of a job.
      const isQuiet = async (): Promise<boolean> =>
        (await grid.sql('select * from job_dependency_news')).length === 0;
      await eventually(isQuiet, 'no news of ends');
    },
  );
});
