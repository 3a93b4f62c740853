import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminToken } from '../support/administration.js';
import { AuditTrail } from '../support/audit-trail.js';
import { CommandUser } from '../support/command.js';
import {
  addSiteSecret,
  addWorkerSite,
  NO_SECRET,
  noWorker,
  registered,
  renewed,
  seen,
  SITE,
  TestWorker,
  UNKNOWN,
} from '../support/test-worker.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const OTHER = 'CLOUD.example';

let grid: Grid;
let adam: GridClient;
let trail: AuditTrail;

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'info' } });
  trail = new AuditTrail(grid);
  await addWorkerSite(grid, SITE);
  await addWorkerSite(grid, OTHER);
  adam = grid.bearer(await adminToken(grid));
});
afterAll(() => grid?.remove());

describe('/admin/workers', () => {
  const shown = (worker: TestWorker, more: object = {}): object => ({
    ...{ id: worker.id, site: SITE, name: 'node7', version: '0.2.0', protocol: 1 },
    ...{ state: 'active', secret: expect.any(String) },
    ...{ registeredAt: expect.any(String), seenAt: expect.any(String), ...more },
  });
  const named = async (worker: TestWorker): Promise<object | undefined> => {
    const { body } = await adam.get<{ workers: { id: string }[] }>('/admin/workers');
    return body.workers.find(({ id }) => id === worker.id);
  };

  it('lists workers page by page, those of the last day among them', async () => {
    const PAGES = 'PAGES.example';
    await addWorkerSite(grid, PAGES);
    const workers = [];
    for (let index = 0; index < 3; index += 1)
      workers.push(await TestWorker.registered(grid, PAGES));
    const [one, two, three] = workers.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await two!.call();
    await grid.sql(`update worker set seen_at = now() - interval '91 s' where id = $1`, [one!.id]);
    const query = { site: PAGES, limit: 2 };
    const first = await adam.get('/admin/workers', { query });
    const site = { site: PAGES };
    expect(seen(first)).toEqual([
      200,
      {
        workers: [
          shown(one!, { ...site, state: 'silent' }),
          shown(two!, { ...site, state: 'gone', removedAt: expect.any(String) }),
        ],
      },
    ]);
    const next = `/admin/workers?site=${PAGES}&limit=2&after=${two!.id}`;
    expect(first.headers['link']).toBe(`<${grid.url}${next}>; rel="next"`);
    const second = await adam.get(next);
    expect(seen(second)).toEqual([200, { workers: [shown(three!, site)] }]);
    expect(second.headers['link']).toBeUndefined();
    await grid.sql(`update worker set removed_at = now() - interval '25 h' where id = $1`, [
      two!.id,
    ]);
    expect((await adam.get('/admin/workers', { query })).body.workers).toHaveLength(2);
  });

  it('drains a worker until it ends, also when it registers again meanwhile', async () => {
    const { secret } = await addSiteSecret(grid, SITE);
    const worker = await TestWorker.of(grid);
    const facts = { isolation: 'none', gpus: 0, memoryCgroup: false };
    await worker.register({ site: SITE, secret, facts });
    const drained = shown(worker, {
      ...{ ...facts, state: 'draining', drainingAt: expect.any(String) },
    });
    const answer = await adam.post(`/admin/workers/${worker.id}/drain`);
    expect(seen(answer)).toEqual([200, drained]);
    const line = await trail.lineOf(answer, 'worker.drained');
    expect(line).toMatchObject({ outcome: 'done', user: 'adam', worker: worker.id, site: SITE });
    expect((await worker.register({ site: SITE, secret, facts })).status).toBe(200);
    expect(await named(worker)).toEqual(drained);
    await worker.call();
    expect((await worker.register({ site: SITE, secret })).status).toBe(201);
    expect(await named(worker)).toEqual(shown(worker));
    const gone = await adam.post(`/admin/workers/${UNKNOWN}/drain`);
    expect(seen(gone)).toEqual(noWorker(UNKNOWN));
  });

  it('removes a worker, whose secret goes with it unless others may use it', async () => {
    for (const reusable of [false, true]) {
      const { id, secret } = await addSiteSecret(grid, SITE, { reusable });
      const worker = await TestWorker.of(grid);
      await worker.register({ site: SITE, secret });
      const path = `/admin/workers/${worker.id}`;
      const answer = await adam.delete(path);
      expect(seen(answer)).toEqual([204, '']);
      const line = await trail.lineOf(answer, 'worker.removed');
      expect(line).toMatchObject({ outcome: 'done', user: 'adam', way: 'request' });
      expect(seen(await worker.call())).toEqual(noWorker(worker.id));
      expect(seen(await worker.renew())).toEqual(noWorker(worker.id));
      expect(seen(await adam.delete(path))).toEqual(noWorker(worker.id));
      const back = await worker.register({ site: SITE, secret });
      expect(seen(back)).toEqual(reusable ? [201, registered] : NO_SECRET);
      const [row] = await grid.sql('select revoked_at from site_secret where id = $1', [id]);
      expect(row.revoked_at === null).toBe(reusable);
    }
  });

  it('removes a worker with every secret that is its own', async () => {
    const worker = await TestWorker.of(grid);
    const secrets = [await addSiteSecret(grid, SITE), await addSiteSecret(grid, SITE)];
    for (const { secret } of secrets) await worker.register({ site: SITE, secret });
    expect((await adam.delete(`/admin/workers/${worker.id}`)).status).toBe(204);
    for (const { secret } of secrets) {
      expect(seen(await worker.register({ site: SITE, secret }))).toEqual(NO_SECRET);
    }
  });
});

describe('gridgate', () => {
  let user: CommandUser;
  beforeAll(async () => {
    user = new CommandUser(await mkdtemp(join(tmpdir(), 'gridgate-worker-')));
  });
  afterAll(() => rm(user.home, { recursive: true, force: true }));
  const settings = (): Record<string, string> => ({
    GRID_HOME: grid.home,
    DATABASE_URL: grid.database.url,
    GRID_PUBLIC_URL: grid.url,
  });
  const run = async (
    ...words: string[]
  ): Promise<{ code: number; stdout: string; stderr: string }> => user.run(words, settings());

  it('site secret add prints the line that starts a worker; list and revoke show no secret', async () => {
    const added = await run('site', 'add', 'NEW.example', '--backend', 'worker');
    expect([added.code, added.stdout]).toEqual([0, '+ sites.NEW.example\n']);
    const { code, stdout, stderr } = await run('site', 'secret', 'add', SITE);
    const line =
      /^printf %s (gridgate-site\.([0-9a-f]{12})\.[\w-]{43}) \| gridgate worker run --server (\S+) --site DESK\.example --ca (sha256:[0-9a-f]{64}) --directory gridgate-worker --secret-file -\n$/;
    expect([code, stdout]).toEqual([0, expect.stringMatching(line)]);
    const [, secret = '', id = '', server] = line.exec(stdout) ?? [];
    expect(server).toBe(grid.url);
    const loopback =
      'no other machine reaches the service by that address: GRID_PUBLIC_URL, as the service has it, says another one\n';
    expect(stderr).toBe(loopback);
    const elsewhere = await user.run(['site', 'secret', 'add', SITE], {
      ...{ ...settings(), GRID_PUBLIC_URL: 'https://grid.example.org' },
    });
    expect([elsewhere.stderr, elsewhere.stdout]).toEqual([
      '',
      expect.stringContaining('--server https://grid.example.org '),
    ]);
    const worker = await TestWorker.of(grid);
    expect((await worker.register({ site: SITE, secret })).status).toBe(201);
    const listed = await run('site', 'secret', 'list', SITE, '--json');
    expect(listed.stdout).not.toContain(secret);
    expect(JSON.parse(listed.stdout).secrets).toContainEqual({
      ...{ id, site: SITE, state: 'used', workers: 1 },
      ...{ createdAt: expect.any(String), createdBy: expect.any(String) },
    });
    const revoked = await run('site', 'secret', 'revoke', SITE, id, '--json');
    expect(JSON.parse(revoked.stdout)).toEqual({ secrets: [id], workers: 0 });
    expect(seen(await worker.renew())).toEqual([200, renewed]);
    expect(seen(await worker.register({ site: SITE, secret }))).toEqual(NO_SECRET);
    const all = await run('site', 'secret', 'revoke', SITE, id, '--with-workers', '--json');
    expect(JSON.parse(all.stdout)).toEqual({ secrets: [id], workers: 1 });
    expect(seen(await worker.renew())).toEqual(noWorker(worker.id));
    expect(seen(await worker.call())).toEqual(noWorker(worker.id));
  });

  it('site secret refuses sites that take no workers, and secrets that there are not', async () => {
    const local = await run('site', 'secret', 'add', 'LOCAL.demo');
    const rest = 'workers run jobs of sites with the backend worker';
    expect([local.code, local.stderr]).toEqual([
      2,
      `gridgate: Site LOCAL.demo has the backend local-process: ${rest}\n`,
    ]);
    const none = await run('site', 'secret', 'revoke', SITE, 'ffffffffffff');
    expect([none.code, none.stderr]).toEqual([
      2,
      'gridgate: Site DESK.example has no secret with the id ffffffffffff\n',
    ]);
  });

  it('worker list, drain and revoke do what the routes do', async () => {
    const worker = await TestWorker.registered(grid, OTHER);
    const listed = await run('worker', 'list', '--site', OTHER, '-o', 'name');
    expect(listed.stdout).toBe(`${worker.id}\n`);
    const drained = await run('worker', 'drain', worker.id, '--json');
    expect(JSON.parse(drained.stdout).workers).toMatchObject([{ state: 'draining' }]);
    const revoked = await run('worker', 'revoke', worker.id);
    expect([revoked.code, revoked.stdout]).toEqual([0, `revoked ${worker.id}\n`]);
    const again = await run('worker', 'revoke', worker.id);
    expect([again.code, again.stderr]).toEqual([2, `gridgate: There is no worker ${worker.id}\n`]);
  });
});
