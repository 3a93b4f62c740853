import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const MEMBERS = 4_000;
const KILLS = 3;
/** A repetition may meet what its forerunner has not given back yet. */
const SETTLED_MS = 30_000;
const ARRAY = {
  ...{ Executable: '/bin/true', JobName: 'mc-%n', Tags: ['nowhere'] },
  ...{ Parameters: MEMBERS, array: true },
};

interface Made {
  jids: number[];
  arrayId: number;
}

/** Members of an array of one state, as the database has them and as the service counts them. */
interface Count {
  status: string;
  n: number;
  most: number;
}

describe('requests about arrays while their instance is killed', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({
      env: {
        GRID_MAX_PARAMETRIC_JOBS: String(MEMBERS),
        GRID_RATE_SUBMIT: '0',
        GRID_MAX_RESCHEDULES: '1',
      },
    });
    alice = await grid.as('alice');
  });
  afterAll(() => grid?.remove());

  /** Kills the instance as soon as the request has come so far, and starts it again. */
  async function killed(
    request: () => Promise<unknown>,
    isFar: () => Promise<boolean>,
  ): Promise<void> {
    const failed = request().then(
      () => false,
      () => true,
    );
    await eventually(isFar, 'the request to be at work');
    await grid.kill();
    expect(await failed).toBe(true);
    grid = await grid.again();
    alice = await grid.as('alice');
  }

  const rowsOf = async (arrayId: number): Promise<Record<string, number>> => {
    const rows = await grid.sql<Count>(
      `select status, count(*)::integer as n, max(reschedules) as most from jobs where array_id = $1 group by 1 order by 1`,
      [arrayId],
    );
    expect(rows.every(({ most }) => most <= 1)).toBe(true);
    expect(rows.reduce((sum, { n }) => sum + n, 0)).toBe(MEMBERS);
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  };

  /** The states of all members, which the service counts alike; members on their way may move in between. */
  const statesOf = async (arrayId: number): Promise<Record<string, number>> =>
    eventually(async () => {
      const { body } = await alice.get(`/jobs/arrays/${arrayId}`);
      const rows = await rowsOf(arrayId);
      return body.total === MEMBERS && isDeepStrictEqual(body.states, rows) ? rows : undefined;
    }, 'rows and counts to agree');

  const some = async (arrayId: number, status: string): Promise<boolean> => {
    const rows = await grid.sql('select from jobs where array_id = $1 and status = $2 limit 1', [
      arrayId,
      status,
    ]);
    return rows.length > 0;
  };

  const made = async (): Promise<number> => {
    const { status, body } = await alice.post<Made>('/jobs', { json: ARRAY });
    expect([status, body.jids?.length]).toEqual([200, MEMBERS]);
    return body.arrayId;
  };

  it('make all members or none, and one array in the end', async () => {
    const send = () =>
      alice.post<Made>('/jobs', { json: ARRAY, headers: { 'idempotency-key': 'array-kills' } });
    const made = async (): Promise<number[]> =>
      (
        await grid.sql<{ n: number }>(
          'select count(*)::integer as n from jobs where array_id is not null group by array_id',
        )
      ).map(({ n }) => n);
    const given = async (): Promise<number> => {
      const [row] = await grid.sql<{ n: number }>(
        'select last_value::integer as n from jobs_jid_seq',
      );
      return row?.n ?? 0;
    };
    for (let round = 0; round < KILLS; round += 1) {
      const before = await given();
      await killed(send, async () => (await given()) > before);
      expect(await made()).toEqual([]);
      expect(await grid.sql('select from job_arrays')).toEqual([]);
    }
    const answer = await eventually(
      async () => {
        const one = await send();
        return one.status === 409 ? undefined : one;
      },
      'the key to be free',
      SETTLED_MS,
    );
    expect([answer.status, answer.body.jids.length]).toEqual([200, MEMBERS]);
    expect((await send()).body).toEqual(answer.body);
    expect(await made()).toEqual([MEMBERS]);
    await eventually(
      async () => (await statesOf(answer.body.arrayId))['Waiting'] === MEMBERS,
      'all members to wait',
    );
  });

  it('kill the rest when they are repeated', async () => {
    const arrayId = await made();
    const path = `/jobs/arrays/${arrayId}`;
    await killed(
      () => alice.delete(path),
      () => some(arrayId, 'Killed'),
    );
    const { Killed: before = 0, Waiting: left = 0 } = await statesOf(arrayId);
    expect([before > 0, left > 0, before + left]).toEqual([true, true, MEMBERS]);
    const again = await alice.delete(path);
    expect([again.status, again.body]).toEqual([200, { arrayId, killed: left }]);
    expect(await statesOf(arrayId)).toEqual({ Killed: MEMBERS });
    // Each was killed once.
    const [row] = await grid.sql<{ n: number }>(
      `select count(*)::integer as n from job_history h join jobs j using (jid)
        where j.array_id = $1 and h.status = 'Killed'`,
      [arrayId],
    );
    expect(row?.n).toBe(MEMBERS);
  });

  it('retry each failed member once when they are repeated', async () => {
    const arrayId = await made();
    await grid.sql(
      `update jobs set status = 'Failed', minor_status = 'Application Finished With Errors' where array_id = $1`,
      [arrayId],
    );
    const path = `/jobs/arrays/${arrayId}/retry`;
    const sent = async (): Promise<boolean> =>
      (
        await grid.sql('select from jobs where array_id = $1 and reschedules > 0 limit 1', [
          arrayId,
        ])
      ).length > 0;
    await killed(() => alice.post(path), sent);
    const { Failed: left = 0 } = await statesOf(arrayId);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(MEMBERS);
    const again = await alice.post(path);
    expect([again.status, again.body]).toEqual([
      200,
      { arrayId, retried: left, refused: 0, left: 0 },
    ]);
    await eventually(
      async () => (await statesOf(arrayId))['Waiting'] === MEMBERS,
      'all members to wait',
    );
    const [row] = await grid.sql<{ n: number }>(
      'select sum(reschedules)::integer as n from jobs where array_id = $1',
      [arrayId],
    );
    expect(row?.n).toBe(MEMBERS);
  });
});
