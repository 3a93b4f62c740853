import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, FormData } from 'undici';
import { runs } from '../support/counts.js';
import { freePorts } from '../support/ports.mjs';
import { awaitFinal, awaitStatus, sandboxOf, show, submit } from '../support/jobs.js';
import { eventually, GridClient, startGrid, type Grid } from '../support/testbed.js';

const JOBS = runs(300);
/** Of each of two instances. */
const SLOTS = 3;

const sh = (script: string, more: object = {}) => ({
  Executable: '/bin/sh',
  Arguments: ['-c', script],
  ...more,
});

describe('two instances that run jobs', () => {
  let grid: Grid;
  let second: Grid;
  let alice: GridClient;
  let elsewhere: GridClient;
  let agent: Agent;
  let outside: string;
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'grid-outside-'));
    chmodSync(outside, 0o711);
    const env = {
      GRID_SANDBOX_STORE: join(outside, 'sandboxes'),
      GRID_LOCAL_SLOTS: String(SLOTS),
      GRID_LOCAL_BINDS: `${outside}:rw`,
    };
    grid = await startGrid({ env });
    const [port = 0] = await freePorts(1);
    second = await grid.second({ GRID_PUBLIC_URL: grid.url, GRID_PORT: String(port) });
    alice = await grid.as('alice');
    agent = new Agent({ connect: { ca: grid.ca } });
    elsewhere = new GridClient(`https://localhost:${port}`, agent, alice.token);
  });
  afterAll(async () => {
    await agent?.destroy();
    await second?.remove();
    await grid?.remove();
    await rm(outside, { recursive: true, force: true });
  });

  const executorOf = (instance: Grid): string =>
    `local:${readFileSync(join(instance.home, 'jobs', 'executor-id'), 'utf8').trim()}`;

  it('claim side by side, and no job starts twice', async () => {
    const lines = join(outside, 'lines');
    writeFileSync(lines, '');
    chmodSync(lines, 0o666);
    const go = join(outside, 'go');
    const wait = `until [ -e ${go} ]; do sleep 0.05; done`;
    const manifests = Array.from({ length: JOBS }, () =>
      sh(`${wait}; echo "$JOBID \${GRIDGATE_RUN%/*}" >> ${lines}`),
    );
    const jids = await submit(alice, manifests);
    await eventually(async () => {
      const running = await grid.sql(`select from jobs where status = 'Running'`);
      return running.length === 2 * SLOTS;
    }, 'the places of both to be taken');
    writeFileSync(go, '');
    await awaitFinal(alice, jids);
    const written = readFileSync(lines, 'utf8').trim().split('\n');
    const started = written.map((line) => Number(line.split(' ')[0])).sort((a, b) => a - b);
    expect(started).toEqual(jids);
    const executors = new Set(written.map((line) => line.split(' ')[1]));
    expect(executors).toEqual(new Set([executorOf(grid), executorOf(second)]));
    const moves = await grid.sql<{ status: string; n: string }>(
      `select status, count(*) as n from job_history where jid = any ($1) group by 1 order by 1`,
      [jids],
    );
    expect(Object.fromEntries(moves.map(({ status, n }) => [status, Number(n)]))).toMatchObject({
      Matched: JOBS,
      Running: JOBS,
      Done: JOBS,
    });
  });

  describe('with all their places taken', () => {
    let running: number[];
    beforeAll(async () => {
      running = await submit(
        alice,
        Array.from({ length: 2 * SLOTS }, () => sh('echo "here is $JOBID"; sleep 600')),
      );
      await Promise.all(running.map((jid) => awaitStatus(alice, jid, ['Running'])));
    });
    afterAll(async () => {
      await alice.delete('/jobs', { query: { jid: running.map(String) } });
      await awaitFinal(alice, running);
    });

    it('each shows the running output of the jobs of both', async () => {
      const held = await grid.sql<{ jid: string; executor: string }>(
        'select jid, executor from jobs where jid = any ($1)',
        [running],
      );
      expect(new Set(held.map(({ executor }) => executor)).size).toBe(2);
      for (const [index, jid] of running.entries()) {
        const client = index % 2 === 0 ? alice : elsewhere;
        const answer = await eventually(async () => {
          const seen = await client.get(`/jobs/${jid}/peek`);
          return seen.body.stdout !== '' && seen;
        }, 'the first line');
        expect([answer.status, answer.body]).toEqual([
          200,
          { stdout: `here is ${jid}\n`, stderr: '' },
        ]);
      }
    });

    it('explain a job that does not wait, and only to those who may read it', async () => {
      const jid = running[0] ?? 0;
      const { site } = await show(alice, jid);
      const { body } = await alice.get(`/jobs/${jid}/explain`);
      const other = site === 'LOCAL.demo' ? 'LOCAL.spare' : 'LOCAL.demo';
      expect(body).toEqual({
        jid,
        status: 'Running',
        waitsFor: `Nothing: it is Running at ${site}`,
        sites: { [site]: 'The job is Running here', [other]: 'The job is Running' },
      });
      expect((await alice.get('/jobs/4242424242/explain')).status).toBe(404);
      expect((await grid.anonymous.get(`/jobs/${jid}/explain`)).status).toBe(401);
      expect((await alice.get(`/jobs/${jid}/explain?x=1`)).status).toBe(400);
    });
  });

  it('clean sandboxes that no job uses, and no other', async () => {
    const form = (content: string): FormData => {
      const data = new FormData();
      data.set('manifest', JSON.stringify({ Executable: '/bin/true' }));
      data.set('file', new Blob([content]), 'input.txt');
      return data;
    };
    const headers = { 'idempotency-key': 'cleaning' };
    const used = await alice.post('/jobs', { multipart: form('used'), headers });
    const unused = await alice.post('/jobs', { multipart: form('unused'), headers });
    expect([used.status, unused.status]).toEqual([200, 422]); // its files were stored before it was refused
    const [jid = 0] = used.body.jids as number[];
    await awaitFinal(alice, [jid]);
    const before = await archives();
    await grid.sql(`update job_sandboxes set used_at = now() - interval '30 days'`);
    await grid.stop();
    grid = await grid.again(); // the first look is at the start
    alice = await grid.as('alice');
    const left = await eventually(async () => {
      const rows = await grid.sql<{ hash: string }>('select hash from job_sandboxes');
      // Jobs of the tests before may end meanwhile and add theirs.
      const known = rows.map(({ hash }) => hash).filter((hash) => before.includes(hash));
      return known.length < before.length && known.sort();
    }, 'the cleaning');
    const kept = async (): Promise<string[]> =>
      (await archives()).filter((hash) => before.includes(hash));
    await eventually(async () => (await kept()).length === left.length, 'its files');
    expect(await kept()).toEqual(left);
    expect(before).toHaveLength(left.length + 1);
    expect(await sandboxOf(alice, jid, 'input')).toEqual({ 'input.txt': 'used' });
    const unassigned = await grid.sql<{ hash: string }>(
      `select hash from job_sandboxes s where not exists
        (select from jobs where s.hash in (input_sandbox, output_sandbox))`,
    );
    // Of a job that ends just now the sandbox is kept before the job has it.
    expect(unassigned.filter(({ hash }) => before.includes(hash))).toEqual([]);
  });

  async function archives(): Promise<string[]> {
    const names = await readdir(join(outside, 'sandboxes'), { recursive: true });
    return names.flatMap((name) => /([0-9a-f]{64})\.tar\.gz$/.exec(name)?.[1] ?? []).sort();
  }
});

describe('an instance that runs no jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    alice = await grid.as('alice');
  });
  afterAll(() => grid?.remove());

  it('says that nobody runs the job', async () => {
    const [jid = 0] = await submit(alice, [sh('true')]);
    const reason = 'No local-process executor is running';
    expect((await alice.get(`/jobs/${jid}/explain`)).body).toEqual({
      jid,
      status: 'Waiting',
      place: 1,
      share: {
        ...{ group: 'grid_user', weight: 1, ownersBefore: 0 },
        ...{ used: expect.any(Number), due: expect.any(Number), ownerUsed: expect.any(Number) },
      },
      waitsFor: `A site that can run it (LOCAL.demo: ${reason}, LOCAL.spare: ${reason})`,
      sites: { 'LOCAL.demo': reason, 'LOCAL.spare': reason },
    });
    const peek = await alice.get(`/jobs/${jid}/peek`);
    expect([peek.status, peek.body.code, peek.body.jobStatus]).toEqual([
      409,
      'job.state-conflict',
      'Waiting',
    ]);
  });

  it('explains why jobs wait, for each site', async () => {
    await grid.sql(`delete from jobs`);
    await grid.sql(
      `insert into job_executors (executor, instance, backend, seen_at)
        values ('local:x', 'x', 'local-process', clock_timestamp())`,
    );
    const jids = await submit(alice, [
      sh('true', { BannedSites: 'LOCAL.demo' }),
      sh('true', { Sites: 'LOCAL.spare', Priority: 9 }),
      sh('true'),
    ]);
    const told = await Promise.all(
      jids.map(async (jid) => (await alice.get(`/jobs/${jid}/explain`)).body.sites),
    );
    const ahead = (count: number) =>
      `Waits for a free slot; ${count} jobs of its owner are in front of it`;
    expect(told).toEqual([
      {
        'LOCAL.demo': 'It is among the BannedSites of the job',
        'LOCAL.spare': 'Waits for a free slot; 1 job of its owner is in front of it',
      },
      {
        'LOCAL.demo': 'It is not among the Sites of the job',
        'LOCAL.spare': 'Waits for a free slot; it is the next one',
      },
      { 'LOCAL.demo': ahead(2), 'LOCAL.spare': ahead(2) },
    ]);
  });

  const KILLABLE = [
    ...['Submitting', 'Received', 'Checking', 'Scouting', 'Staging', 'Waiting', 'Matched'],
    ...['Rescheduled', 'Running', 'Stalled', 'Completing'],
  ];
  it.each(KILLABLE)('kills a job that is %s', async (state) => {
    const [jid = 0] = await submit(alice, [sh('true')]);
    await grid.sql('update jobs set status = $2 where jid = $1', [jid, state]);
    const answer = await alice.delete(`/jobs/${jid}`);
    expect([answer.status, answer.body]).toEqual([200, { jid }]);
    expect(await show(alice, jid)).toMatchObject({
      status: 'Killed',
      minorStatus: 'Marked for termination',
    });
    const { body } = await alice.get(`/jobs/${jid}/history`);
    expect(body.history.at(-1)).toMatchObject({ status: 'Killed', source: 'alice' });
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200); // once more is fine
  });

  it('hear of a kill of more than 100 jobs: of 100 by their ids, of the others by one word more', async () => {
    const waiting = { ...sh('true'), Sites: 'LOCAL.none' };
    const jids = await submit(alice, Array(101).fill(waiting));
    const listener = await grid.connection();
    const heard: string[] = [];
    listener.on('notification', ({ payload = '' }) => heard.push(payload));
    await listener.query('listen jobs_stop');
    const query = { jid: jids.map(String) };
    expect((await alice.delete('/jobs', { query })).status).toBe(200);
    await eventually(() => Promise.resolve(heard.length === 101), 'all notifications');
    await listener.end();
    expect(heard.filter((payload) => payload === '')).toHaveLength(1);
    expect(new Set(heard).size).toBe(101);
  });

  it.each(['Completed', 'Done', 'Failed', 'Deleted'])(
    'answers 409 with the state for a job that is %s',
    async (state) => {
      const [jid = 0] = await submit(alice, [sh('true')]);
      await grid.sql('update jobs set status = $2 where jid = $1', [jid, state]);
      const answer = await alice.delete(`/jobs/${jid}`);
      expect([answer.status, answer.body.code, answer.body.jobStatus]).toEqual([
        409,
        'job.state-conflict',
        state,
      ]);
      const bulk = await alice.delete('/jobs', { query: { jid: String(jid) } });
      expect(bulk.body).toEqual({
        results: { [jid]: { status: 409, detail: `Job ${jid} is ${state}` } },
      });
      expect((await show(alice, jid)).status).toBe(state);
    },
  );

  it('answers too many submits of a user 429 with Retry-After, and nobody else', async () => {
    // One a second: however slow the machine is, most of sixty are too many.
    const slow = await grid.second({ GRID_RATE_SUBMIT: '1' });
    const [alice, bob] = [await slow.as('alice'), await slow.as('bob')];
    const json = { Executable: '/bin/true' };
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        alice.post(index % 2 === 0 ? '/jobs' : '/jobs?dryRun=true', { json }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    expect(new Set(refused.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
      new Set(['429 rate.limited']),
    );
    expect(refused.every(({ headers }) => Number(headers['retry-after']) === 1)).toBe(true);
    expect((await bob.post('/jobs', { json })).status).toBe(200);
    expect((await alice.get('/jobs?maxJobs=1')).status).toBe(200);
    await eventually(async () => (await alice.post('/jobs', { json })).status === 200, 'a place');
    await slow.remove();
  });
});
