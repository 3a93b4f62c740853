import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Database } from '#src/database/index.js';
import { QueryValues, readQuery } from '#src/http/index.js';
import { JobListRepository } from '../../src/jobs/list/job-list.repository.js';
import { ListJobsQuery, wantedOf } from '../../src/jobs/list/list-jobs.query.js';
import { scratchDatabase, type ScratchDatabase } from '../support/scratch-database.js';

const VISIBILITY = { setup: 'Prod', owner: 'alice' };
let scratch: ScratchDatabase;
let database: Database;

beforeAll(async () => {
  scratch = await scratchDatabase();
  database = await scratch.open();
});
afterAll(() => scratch?.remove());

/** The database, with something that happens once, behind the first statement. */
function changing(change: () => Promise<unknown>): Database {
  let isOver = false;
  const watched = <T extends Pick<Database, 'query'>>(asked: T): T =>
    new Proxy(asked, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name === 'snapshot') {
          return (work: (state: Pick<Database, 'query'>) => Promise<unknown>) =>
            database.snapshot((state) => work(watched(state)));
        }
        if (name !== 'query') return value;
        return async (statement: Parameters<Database['query']>[0]) => {
          const rows = await target.query(statement);
          if (!isOver) {
            isOver = true;
            await change();
          }
          return rows;
        };
      },
    });
  return watched(database);
}

it('counts and shows jobs of one moment, from which the feed goes on', async () => {
  await database.query({
    text: `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group, job_type,
        site, priority, cpu_time, submission_time, last_update)
      select 'Prod', 'alice', '', 'g', '', 'Waiting', 'new', 'n', '', 'User', 'ANY', 1, 1, now(),
        case n when 2 then timestamptz '2020-01-01' else now() end
      from generate_series(1, 3) n`,
  });
  const jids = await database.query<{ jid: number }>({ text: 'select jid from jobs order by jid' });
  const [first, between, last] = jids.map(({ jid }) => Number(jid));
  const query = readQuery(ListJobsQuery, new QueryValues('?fromDate=2026-01-01'));
  const moved = changing(() =>
    database.query({
      text: 'update jobs set last_update = now() where jid = $1',
      values: [between],
    }),
  );
  const shown = async (asked: Database): Promise<unknown> => {
    const { entries, jobs } = await new JobListRepository(asked).list(
      wantedOf(query, 10),
      VISIBILITY,
    );
    return [entries, jobs.map(({ record }) => (JSON.parse(record) as { jid: number }).jid)];
  };
  expect(await shown(moved)).toEqual([2, [last, first]]);
  expect(await shown(database)).toEqual([3, [last, between, first]]);
});
