import { gunzipSync } from 'node:zlib';
import { FormData } from 'undici';
import { awaitFinal, submit } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient, type Identity } from '../support/testbed.js';

/** Takes more than a twentieth of a second of CPU and ends long before anybody looks. */
const BUSY = 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; exit 1';

describe('reading jobs', () => {
  let grid: Grid;
  let alice: GridClient;
  let jids: number[];
  let shared: number;

  beforeAll(async () => {
    grid = await startGrid();
    alice = await grid.as('alice');
    const form = new FormData();
    const hello = { Executable: '/bin/sh', Arguments: ['-c', 'cat in.txt; echo err >&2'] };
    form.append('manifest', JSON.stringify({ ...hello, JobName: 'first', JobGroup: 'g' }));
    form.append('file', new File(['0123456789'], 'in.txt'));
    const one = await alice.post('/jobs', { multipart: form });
    const rest = await submit(alice, [
      { Executable: '/bin/true', JobName: 'second', Sites: ['LOCAL.spare'] },
      { Executable: '/bin/sh', Arguments: ['-c', BUSY], JobName: 'third', Priority: 3 },
    ]);
    jids = [...one.body.jids, ...rest];
    const sharing = await grid.as('alice', 'grid_share');
    shared = (await submit(sharing, [{ Executable: '/bin/true' }]))[0] ?? 0;
    await awaitFinal(alice, [...jids, shared]);
  });
  afterAll(async () => grid.remove());

  const listed = async (query: Record<string, string | string[]>): Promise<number[]> =>
    (await alice.get('/jobs', { query })).body.jobs.map((job: { jid: number }) => job.jid);

  describe('GET /jobs', () => {
    it('lists own jobs, newest first, with the number of all', async () => {
      const { status, body, headers } = await alice.get('/jobs', { query: { maxJobs: '2' } });
      expect(status).toBe(200);
      expect(body.entries).toBe(4);
      expect(body.jobs.map((job: { jid: number }) => job.jid)).toEqual([shared, jids[2]]);
      expect(headers['link']).toMatch(/^<https:.*\/jobs\?maxJobs=2&after=[\w-]+>; rel="next"$/);
    });

    it('walks all pages by the cursor', async () => {
      const seen: number[] = [];
      let path: string | undefined = '/jobs?maxJobs=1&sort=-priority,name';
      while (path !== undefined) {
        const { body, headers }: { body: any; headers: any } = await alice.get(path);
        seen.push(...body.jobs.map((job: { jid: number }) => job.jid));
        expect(body.entries).toBe(4);
        path = /\/jobs\?[^>]*/.exec(headers.link ?? '')?.[0];
      }
      expect(seen).toEqual([jids[2], shared, jids[0], jids[1]]);
    });

    it('pages by startJob, also behind the end', async () => {
      expect(await listed({ startJob: '1', maxJobs: '2' })).toEqual([jids[2], jids[1]]);
      const { body } = await alice.get('/jobs', { query: { startJob: '99' } });
      expect(body).toEqual({ entries: 4, jobs: [] });
    });

    it.each<[Record<string, string | string[]>, number[]]>([
      [{ status: 'Failed' }, [2]],
      [{ Status: ['Failed', 'Done'], JobName: 'second' }, [1]],
      [{ site: 'LOCAL.spare', name: 'second' }, [1]],
      [{ jobGroup: 'g' }, [0]],
      [{ priority: '3' }, [2]],
      [{ inputSandboxReady: 'true' }, [0]],
      [{ jid: '9223372036854775807' }, []],
      [{ fromDate: '2100-01-01' }, []],
    ])('filters by %j', async (query, expected) => {
      const { body } = await alice.get('/jobs', { query });
      expect(body.jobs.map((job: { jid: number }) => job.jid)).toEqual(
        expected.map((i) => jids[i]),
      );
      expect(body.entries).toBe(expected.length);
    });

    it('sorts', async () => {
      expect(await listed({ sort: 'jid' })).toEqual([...jids, shared]);
    });

    it('refuses a cursor that was made up', async () => {
      const after = Buffer.from('{"s":"-jid","v":["x"]}').toString('base64url');
      const { status, body } = await alice.get('/jobs', { query: { after } });
      expect(status).toBe(400);
      expect(body.violations).toEqual([
        { field: 'after', problem: 'is not a cursor of this list' },
      ]);
    });

    it('filters by every time of the record: an instant, or the whole day', async () => {
      const { times } = (await alice.get(`/jobs/${jids[1]}`)).body as {
        times: Record<string, string>;
      };
      const both: [string, string][] = [
        ['submission', 'submissionTime'],
        ['lastUpdate', 'LastUpdateTime'],
        ['lastSOL', 'lastSOL'],
        ['heartBeat', 'HeartBeatTime'],
        ['startExecution', 'startExecTime'],
        ['endExecution', 'EndExecTime'],
      ];
      for (const [name, other] of both) {
        const value = times[name];
        if (value === undefined) continue;
        const day = value.slice(0, 10);
        const dayBefore = new Date(Date.parse(day) - 1).toISOString().slice(0, 10);
        expect([name, await listed({ [name]: value })]).toEqual([
          name,
          expect.arrayContaining([jids[1]]),
        ]);
        expect(await listed({ [other]: value, jid: String(jids[1]) })).toEqual([jids[1]]);
        expect(await listed({ [name]: day, jid: String(jids[1]) })).toEqual([jids[1]]);
        expect(await listed({ [name]: [dayBefore, day], jid: String(jids[1]) })).toEqual([jids[1]]);
        expect(await listed({ [name]: dayBefore })).toEqual([]);
        const later = new Date(Date.parse(value) + 1).toISOString();
        expect(await listed({ [name]: later, jid: String(jids[1]) })).toEqual([]);
      }
      expect(await listed({ reschedule: '2026-01-02' })).toEqual([]);
      const { body } = await alice.get('/jobs/summary', {
        query: { SubmissionTime: '2001-01-01' },
      });
      expect(body).toEqual({});
    });

    it.each<[string, string]>([
      ['status', 'Nonsense'],
      ['Status', ''],
      ['lastUpdate', 'yesterday'],
      ['SubmissionTime', '2026-02-30T99:00Z'],
      ['killed', 'perhaps'],
      ['priority', '99999999999'],
      ['priority', '1.5'],
      ['maxJobs', '-99999999999999999999'],
    ])('refuses %s=%s and names it', async (field, value) => {
      const { status, body } = await alice.get('/jobs', { query: { [field]: value } });
      expect([status, body.code]).toEqual([400, 'request.invalid']);
      expect(body.violations).toEqual([{ field, problem: expect.any(String) }]);
      if (/status/i.test(field)) expect(body.violations[0].problem).toContain('Stalled');
      if (value === '99999999999') expect(body.violations[0].problem).not.toContain('whole');
    });

    it('takes numbers beyond every bound as the bound', async () => {
      for (const many of ['99999999999999999999', '9007199254740992']) {
        expect((await listed({ maxJobs: many })).length).toBe(4);
        const { body } = await alice.get('/jobs', { query: { startJob: many } });
        expect(body).toEqual({ entries: 4, jobs: [] });
      }
    });

    it('names unknown keys', async () => {
      const { status, body } = await alice.get('/jobs', { query: { colour: 'red' } });
      expect([status, body.code]).toEqual([400, 'request.unknown-parameter']);
    });

    it('never crosses setups, also not for administrators', async () => {
      for (const [name, group] of [
        ['alice', 'grid_user'],
        ['adam', 'grid_adm'],
      ] as [Identity, string][]) {
        const test = await grid.as(name, group, 'Test');
        expect((await test.get('/jobs', { query: { allOwners: true } })).body.entries).toBe(0);
        expect((await test.get(`/jobs/${jids[0]}`)).status).toBe(404);
      }
    });
  });

  it('summarizes', async () => {
    expect((await alice.get('/jobs/summary')).body).toEqual({ Done: 3, Failed: 1 });
    const query = {
      group: ['Status', 'name'],
      site: 'LOCAL.spare',
      status: 'Done',
      name: 'second',
    };
    expect((await alice.get('/jobs/summary', { query })).body).toEqual({ 'Done|second': 1 });
  });

  describe('GET /jobs/summary of many jobs', () => {
    const COUNTS = 10_000;
    let carol: GridClient;
    const add = (from: number, to: number): Promise<unknown> =>
      grid.sql(
        `insert into jobs (setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group,
           job_type, site, priority, cpu_time, submission_time, last_update)
         select 'Test', 'carol', '/DC=org/DC=grid/CN=carol', 'grid_user', 'vo', 'Done', 'Execution Complete',
           'n' || n, 'g' || n % 5000, 'User', 'LOCAL.demo', 1, 1, now(), now()
         from generate_series($1::integer, $2::integer) n`,
        [from, to],
      );
    beforeAll(async () => {
      carol = await grid.as('carol', 'grid_user', 'Test');
      await add(1, COUNTS);
    });

    it.each([['JobID'], ['jid'], ['JobName']])('counts up to 10,000 by %s', async (group) => {
      const { status, body } = await carol.get('/jobs/summary', { query: { group } });
      expect(status).toBe(200);
      expect(Object.keys(body)).toHaveLength(COUNTS);
      expect(new Set(Object.values(body))).toEqual(new Set([1]));
    });

    it.each<[string[], string]>([
      [['JobID'], 'JobID'],
      [['jid'], 'jid'],
      [['Status', 'JobName'], 'JobName'],
      [['JobGroup', 'name', 'site'], 'name'],
    ])('refuses more by %j and names the attribute', async (group, named) => {
      await add(COUNTS + 1, COUNTS + 1);
      const { status, body, headers } = await carol.get('/jobs/summary', { query: { group } });
      const others = ['Status', 'MinorStatus', 'Site', 'Owner', 'OwnerGroup', 'JobType'].filter(
        (one) => !group.some((asked) => asked.toLowerCase() === one.toLowerCase()),
      );
      const problem = `${named} has too many values: there would be more than 10000 counts. Group by attributes with few values instead (${others.join(', ')}), or filter`;
      expect({ status, body }).toEqual({
        status: 400,
        body: {
          type: 'urn:gridgate:problem:request.invalid',
          title: 'The request is not valid',
          status: 400,
          detail: `group: ${problem}`,
          code: 'request.invalid',
          instance: `urn:gridgate:request:${String(headers['x-request-id'])}`,
          violations: [{ field: 'group', problem }],
        },
      });
      const fewer = { group, toDate: '2001-01-01' };
      expect((await carol.get('/jobs/summary', { query: fewer })).body).toEqual({});
      expect((await carol.get('/jobs/summary', { query: { group: 'JobGroup' } })).status).toBe(200);
    });
  });

  it.each(['0', '01', '-1', 'abc', '1.5', '99999999999999999999', '424242'])(
    'answers 404 for job %s',
    async (jid) => {
      const { status, body } = await alice.get(`/jobs/${jid}`);
      expect([status, body.code]).toEqual([404, 'job.not-found']);
    },
  );

  it.each<[string, Identity, string, number, number, number]>([
    ['the owner', 'alice', 'grid_user', 200, 200, 200],
    ['the owner with another group', 'alice', 'grid_share', 200, 200, 200],
    ['another user', 'bob', 'grid_user', 200, 403, 403],
    ['a sharer of another group', 'bob', 'grid_share', 200, 403, 403],
    ['the monitor', 'mona', 'grid_mon', 200, 200, 200],
    ['the administrator', 'adam', 'grid_adm', 200, 200, 200],
  ])('shows to %s what the matrix says', async (_who, name, group, record, manifest, sandbox) => {
    const client = await grid.as(name, group);
    const statuses = await Promise.all(
      ['', '/manifest', '/outputsandbox', '/inputsandbox', '/history'].map(
        async (part) => (await client.get(`/jobs/${jids[0]}${part}`)).status,
      ),
    );
    expect(statuses).toEqual([record, manifest, sandbox, sandbox, record]);
  });

  it('shows jobs of a sharing group to its members', async () => {
    const bob = await grid.as('bob', 'grid_share');
    expect((await bob.get(`/jobs/${shared}/outputsandbox`)).status).toBe(200);
  });

  it('keeps the manifest with its types', async () => {
    const { body } = await alice.get(`/jobs/${jids[1]}/manifest`);
    expect(body).toMatchObject({
      Executable: '/bin/true',
      Sites: ['LOCAL.spare'],
      JobID: jids[1],
      Owner: 'alice',
      OwnerGroup: 'grid_user',
    });
  });

  it('keeps the history', async () => {
    const { body } = await alice.get(`/jobs/${jids[2]}/history`);
    expect(body.history.map((row: { status: string }) => row.status)).toEqual([
      'Received',
      'Checking',
      'Waiting',
      'Matched',
      'Running',
      'Completing',
      'Failed',
    ]);
    expect(body.history[6]).toEqual({
      status: 'Failed',
      minorStatus: 'Application Finished With Errors',
      appStatus: 'Exited with code 1',
      time: expect.any(String),
      source: 'local-process',
    });
  });

  it('notes what was measured', async () => {
    const { body } = await alice.get(`/jobs/${jids[2]}/parameters`);
    expect(body).toMatchObject({
      ExitCode: 1,
      HostName: expect.any(String),
      'TotalCPUTime(s)': expect.any(Number),
      'WallClockTime(s)': expect.any(Number),
    });
    expect(body['TotalCPUTime(s)']).toBeGreaterThan(0.05);
  });

  describe('sandboxes', () => {
    it('come as tar.gz with a strong tag and private caching', async () => {
      const { status, headers, bytes } = await alice.get(`/jobs/${jids[0]}/outputsandbox`);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="${jids[0]}-outputsandbox.tar.gz"`,
        'cache-control': 'private, max-age=86400',
        'content-length': String(bytes.length),
        'accept-ranges': 'bytes',
      });
      expect(gunzipSync(bytes).toString('latin1')).toContain('0123456789');
      const tag = String(headers['etag']);
      expect(tag).toMatch(/^"[0-9a-f]{64}"$/);
      const again = await alice.get(`/jobs/${jids[0]}/outputsandbox`, {
        headers: { 'if-none-match': tag },
      });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
      expect((await alice.get(`/jobs/${jids[0]}`)).body.flags.retrieved).toBe(true);
    });

    it('honour byte ranges and HEAD', async () => {
      const path = `/jobs/${jids[0]}/inputsandbox`;
      const whole = await alice.get(path);
      const part = await alice.get(path, { headers: { range: 'bytes=1-3' } });
      expect(part.status).toBe(206);
      expect(part.headers['content-range']).toBe(`bytes 1-3/${whole.bytes.length}`);
      expect(part.bytes).toEqual(whole.bytes.subarray(1, 4));
      const outside = await alice.get(path, { headers: { range: 'bytes=999999-' } });
      expect([outside.status, outside.body.code]).toEqual([416, 'request.range-not-satisfiable']);
      const head = await alice.head(path);
      expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
        200,
        String(whole.bytes.length),
        0,
      ]);
    });

    it('list their files and hand out single ones', async () => {
      const path = `/jobs/${jids[0]}/outputsandbox/files`;
      expect((await alice.get(path)).body).toEqual({
        files: [
          { name: 'std.out', size: 10 },
          { name: 'std.err', size: 4 },
        ],
      });
      expect((await alice.get(`${path}/std.out`)).bytes.toString()).toBe('0123456789');
      const part = await alice.get(`${path}/std.out`, { headers: { range: 'bytes=-3' } });
      expect([part.status, part.bytes.toString()]).toEqual([206, '789']);
      const none = await alice.get(`${path}/none`);
      expect([none.status, none.body.code]).toEqual([404, 'job.no-such-file']);
    });

    it('say why there is none', async () => {
      const { status, body } = await alice.get(`/jobs/${jids[1]}/inputsandbox`);
      expect(status).toBe(404);
      expect(body).toMatchObject({
        code: 'job.no-sandbox',
        detail: `Job ${jids[1]} has no inputsandbox: it was submitted without files`,
      });
    });
  });

  it('hides jobs when GRID_GLOBAL_JOBS is off', async () => {
    const closed = await grid.second({ GRID_GLOBAL_JOBS: 'false', GRID_ROLE: 'api' });
    try {
      const bob = await closed.as('bob');
      expect((await bob.get(`/jobs/${jids[0]}`)).status).toBe(404);
      expect((await bob.get('/jobs', { query: { allOwners: true } })).body.entries).toBe(0);
      const sharer = await closed.as('bob', 'grid_share');
      const { body } = await sharer.get('/jobs', { query: { allOwners: true } });
      expect(body.jobs.map((job: { jid: number }) => job.jid)).toEqual([shared]);
      const mona = await closed.as('mona');
      expect((await mona.get('/jobs', { query: { allOwners: true } })).body.entries).toBe(4);
    } finally {
      await closed.stop();
    }
  });
});
