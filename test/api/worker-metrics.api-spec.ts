import { submit } from '../support/jobs.js';
import { PlayedWorker } from '../support/played-worker.js';
import { addWorkerSite } from '../support/test-worker.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const site = 'COUNTED.example';

describe('metrics of workers', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    await addWorkerSite(grid, site);
  });
  afterAll(() => grid?.remove());

  const shown = async (): Promise<string[]> => {
    const { body } = await grid.anonymous.get<string>('/metrics');
    return body.split('\n').filter((line) => line.startsWith('gridgate_worker'));
  };

  it('are those of sites: workers by state, runs, reports; and the claims that wait here', async () => {
    expect(await shown()).toEqual(['gridgate_worker_claims 0']);
    const worker = await PlayedWorker.registered(grid, site);
    const silent = await PlayedWorker.registered(grid, site);
    const drained = await PlayedWorker.registered(grid, site);
    await submit(await grid.as('alice'), Array(2).fill({ Executable: '/bin/true', Site: site }));
    const [first, second] = await worker.take(2);
    const [one, two] = [first?.run ?? '', second?.run ?? ''];
    await worker.report({ run: one, kind: 'starting' });
    await worker.report({ run: two, kind: 'returned', reason: 'no room' });
    await grid.sql(`update worker set seen_at = now() - interval '1 day' where id = $1`, [
      silent.id,
    ]);
    await grid.sql(`update worker set draining_at = now() where id = $1`, [drained.id]);
    const waiting = worker.claim({ holding: [one], wait: 25 });
    const last = await eventually(async () => {
      const lines = await shown();
      return lines.includes('gridgate_worker_claims 1') && lines;
    }, 'the claim to wait');
    expect(last.sort()).toEqual([
      'gridgate_worker_claims 1',
      `gridgate_worker_reports_total{site="${site}",kind="returned"} 1`,
      `gridgate_worker_reports_total{site="${site}",kind="starting"} 1`,
      `gridgate_worker_runs{site="${site}"} 1`,
      `gridgate_workers{site="${site}",state="active"} 1`,
      `gridgate_workers{site="${site}",state="draining"} 1`,
      `gridgate_workers{site="${site}",state="silent"} 1`,
    ]);
    await worker.claim({ holding: [one], wait: 1 });
    await waiting;
  });
});
