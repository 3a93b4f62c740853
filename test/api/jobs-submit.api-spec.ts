import { FormData } from 'undici';
import { awaitFinal } from '../support/jobs.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TRUE = { Executable: '/bin/true' };

function multipart(fields: [string, string][], files: [string, string, string][]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  for (const [field, name, text] of files) form.append(field, new File([text], name));
  return form;
}

describe('POST /jobs', () => {
  let grid: Grid;
  let alice: GridClient;

  beforeAll(async () => {
    grid = await startGrid({
      env: {
        GRID_ROLE: 'api',
        GRID_MAX_MANIFESTS: '20',
        GRID_MAX_PARAMETRIC_JOBS: '50',
        GRID_MAX_MANIFEST_BYTES: '2000',
        GRID_MAX_SANDBOX: '5000',
        GRID_MAX_SANDBOX_FILES: '3',
      },
    });
    alice = await grid.as('alice');
  });
  afterAll(async () => grid.remove());

  const count = async (): Promise<number> =>
    Number((await grid.sql<{ n: string }>('select count(*) as n from jobs'))[0]?.n);
  const violationsOf = (answer: { body: { violations?: unknown } }): unknown =>
    answer.body.violations;

  it('takes a manifest as JSON and answers the id', async () => {
    const { status, body } = await alice.post('/jobs', { json: TRUE });
    expect(status).toBe(200);
    expect(body).toEqual({ jids: [expect.any(Number)] });
    const record = await alice.get(`/jobs/${body.jids[0]}`);
    expect(record.body).toEqual({
      jid: body.jids[0],
      status: 'Waiting',
      minorStatus: 'Pilot Agent Submission',
      appStatus: 'Unknown',
      name: 'Name',
      jobGroup: '00000000',
      jobType: 'User',
      site: 'ANY',
      owner: 'alice',
      ownerDN: '/DC=org/DC=grid/CN=alice',
      ownerGroup: 'grid_user',
      vo: 'vo',
      setup: 'Prod',
      priority: 1,
      cpuTime: 86400,
      reschedules: 0,
      flags: {
        verified: true,
        retrieved: false,
        accounted: false,
        outputSandboxReady: false,
        inputSandboxReady: false,
        deleted: false,
        killed: false,
      },
      times: {
        submission: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        lastUpdate: expect.any(String),
        lastSOL: expect.any(String),
      },
    });
  });

  it('notes what the job needs of a site', async () => {
    const json = {
      ...TRUE,
      NumberOfProcessors: 2,
      MinRAM: 100,
      MaxRAM: 200,
      WallTime: 60,
      GPUs: 0,
      Tags: ['el9', 'x'],
    };
    const { body } = await alice.post('/jobs', { json });
    const columns = 'processors, min_ram_mb, gpus, tags, wall_time';
    const of = async (jid: number) => grid.sql(`select ${columns} from jobs where jid = ${jid}`);
    expect(await of(body.jids[0])).toEqual([
      { processors: 2, min_ram_mb: 100, gpus: 0, tags: ['el9', 'x'], wall_time: 60 },
    ]);
    expect((await alice.get(`/jobs/${body.jids[0]}/manifest`)).body).toMatchObject(json);
    const plain = await alice.post('/jobs', { json: TRUE });
    expect(await of(plain.body.jids[0])).toEqual([
      { processors: 1, min_ram_mb: 0, gpus: 0, tags: [], wall_time: null },
    ]);
  });

  it('takes many manifests in a JSON object, in order', async () => {
    const manifests = [
      { ...TRUE, JobName: 'one' },
      { ...TRUE, JobName: 'two' },
    ];
    const { status, body } = await alice.post('/jobs', { json: { manifests } });
    expect(status).toBe(200);
    const names = await Promise.all(
      body.jids.map(async (jid: number) => (await alice.get(`/jobs/${jid}`)).body.name),
    );
    expect(names).toEqual(['one', 'two']);
  });

  it('takes a form field, also repeated', async () => {
    const form: [string, string][] = [
      ['manifest', JSON.stringify(TRUE)],
      ['manifest', JSON.stringify(TRUE)],
    ];
    const { status, body } = await alice.post('/jobs', { form });
    expect(status).toBe(200);
    expect(body.jids).toHaveLength(2);
  });

  it('takes files of any field name, which all jobs of the request share', async () => {
    const manifest = JSON.stringify({ ...TRUE, InputSandbox: 'a.txt' });
    const { status, body } = await alice.post('/jobs', {
      multipart: multipart(
        [
          ['manifest', manifest],
          ['manifest', JSON.stringify(TRUE)],
        ],
        [
          ['file', 'a.txt', 'one'],
          ['whatever', 'é ü.txt', 'zwei'],
        ],
      ),
    });
    expect(status).toBe(200);
    for (const jid of body.jids) {
      expect((await alice.get(`/jobs/${jid}/manifest`)).body.InputSandbox).toEqual(
        expect.arrayContaining(['a.txt', 'é ü.txt']),
      );
      expect((await alice.get(`/jobs/${jid}/inputsandbox/files`)).body).toEqual({
        files: [
          { name: 'a.txt', size: 3 },
          { name: 'é ü.txt', size: 4 },
        ],
      });
    }
  });

  it('expands parametric jobs in order', async () => {
    const json = { ...TRUE, JobName: 'p%n', Arguments: '%s %j', Parameters: ['a', 'b', 'c'] };
    const { body } = await alice.post('/jobs', { json });
    expect(body.jids).toHaveLength(3);
    const manifests = await Promise.all(
      body.jids.map(async (jid: number) => (await alice.get(`/jobs/${jid}/manifest`)).body),
    );
    expect(manifests.map((m) => [m.JobName, m.Arguments, m.Parameters])).toEqual([
      ['p0', `a ${body.jids[0]}`, undefined],
      ['p1', `b ${body.jids[1]}`, undefined],
      ['p2', `c ${body.jids[2]}`, undefined],
    ]);
  });

  it.each<[string, object, string]>([
    ['an array', { json: [TRUE] }, 'The body must be a JSON object'],
    ['a broken form manifest', { form: { manifest: '{"a"' } }, 'The manifest is not valid JSON'],
    [
      'a manifest that is a list',
      { form: { manifest: '[]' } },
      'The manifest must be a JSON object',
    ],
    [
      'a multipart body without boundary',
      { body: 'x', headers: { 'content-type': 'multipart/form-data' } },
      'The multipart body has no boundary',
    ],
    [
      'a cut multipart body',
      {
        body: '--x\r\nContent-Disposition: form-data; name="manifest"\r\n\r\n{}',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
      },
      'The multipart body is cut or broken',
    ],
    [
      'a number that no double holds',
      {
        body: '{"Executable":"/bin/true","e":-1e400}',
        headers: { 'content-type': 'application/json' },
      },
      'The body is not valid JSON: A number is beyond 1.8e308',
    ],
    [
      'a number with many digits and a short exponent that no double holds',
      {
        body: `{"Executable":"/bin/true","e":[{"of":1${'0'.repeat(210)}E99}]}`,
        headers: { 'content-type': 'application/json' },
      },
      'The body is not valid JSON: A number is beyond 1.8e308',
    ],
  ])('refuses %s', async (_what, options, detail) => {
    const before = await count();
    const { status, body } = await alice.post('/jobs', options);
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'request.malformed-body' });
    expect(body.detail).toContain(detail);
    expect(await count()).toBe(before);
  });

  it.each(['../../x', 'a/b', 'a\\b', '.', '..'])('refuses the file name %s', async (name) => {
    const form = multipart([['manifest', JSON.stringify(TRUE)]], [['file', name, 'x']]);
    const { status, body } = await alice.post('/jobs', { multipart: form });
    expect(status).toBe(400);
    expect(violationsOf({ body })).toEqual([
      { field: 'files', problem: expect.stringContaining(name) },
    ]);
  });

  it('makes all jobs of a request or none, and names every fault', async () => {
    const before = await count();
    const manifests = [TRUE, { Executable: '', BannedSites: ['X'] }, { ...TRUE, CPUTime: 1 }];
    const { status, body } = await alice.post('/jobs', { json: { manifests } });
    expect(status).toBe(400);
    expect(violationsOf({ body })).toEqual([
      { field: 'manifests[1].Executable', problem: 'is empty' },
      { field: 'manifests[1].BannedSites', problem: 'X: is not a known site' },
      { field: 'manifests[2].CPUTime', problem: 'must be between 100 and 500000' },
    ]);
    expect(await count()).toBe(before);
  });

  it('accepts what looks like a mistake with a warning', async () => {
    const { status, body } = await alice.post('/jobs', { json: { ...TRUE, StdOut: 'x.out' } });
    expect(status).toBe(200);
    expect(body.warnings).toEqual([
      { code: 'manifest.alias', detail: 'StdOut is read as StdOutput', pointer: '/StdOut' },
    ]);
  });

  it.each<[string, () => object, string]>([
    [
      'too many manifests',
      () => ({ json: { manifests: Array.from({ length: 21 }, () => TRUE) } }),
      '21 manifests were sent, at most 20 are allowed',
    ],
    [
      'a manifest that is too long',
      () => ({ json: { ...TRUE, Note: 'x'.repeat(2000) } }),
      'The manifest is larger than 2000 bytes',
    ],
    [
      'a form manifest that is too long',
      () => ({
        multipart: multipart([['manifest', JSON.stringify({ Note: 'x'.repeat(2000) })]], []),
      }),
      'A manifest is larger than 2000 bytes',
    ],
    [
      'files that are too large together',
      () => ({
        multipart: multipart(
          [['manifest', JSON.stringify(TRUE)]],
          [
            ['f', 'a', 'x'.repeat(3000)],
            ['f', 'b', 'x'.repeat(3000)],
          ],
        ),
      }),
      'The files are larger than 5000 bytes together',
    ],
    [
      'too many files',
      () => ({
        multipart: multipart(
          [['manifest', JSON.stringify(TRUE)]],
          ['a', 'b', 'c', 'd'].map((name): [string, string, string] => ['f', name, 'x']),
        ),
      }),
      'More than 3 files were sent',
    ],
  ])('answers 413 for %s', async (_what, options, detail) => {
    const { status, body } = await alice.post('/jobs', options());
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: 'request.too-large', detail });
  });

  it('refuses more parametric jobs than allowed', async () => {
    const { status, body } = await alice.post('/jobs', { json: { ...TRUE, Parameters: 51 } });
    expect(status).toBe(400);
    expect(violationsOf({ body })).toEqual([
      { field: 'Parameters', problem: 'makes 51 jobs, at most 50 are allowed in one request' },
    ]);
  });

  it('refuses the numbers of a sequence that is not there', async () => {
    const json = { ...TRUE, ParameterStart: 3, 'ParameterFactor.a': 2 };
    const { status, body } = await alice.post('/jobs', { json });
    expect(status).toBe(400);
    expect(violationsOf({ body })).toEqual([
      { field: 'ParameterStart', problem: 'needs Parameters' },
      { field: 'ParameterFactor.a', problem: 'needs Parameters.a' },
    ]);
  });

  it('names form fields that are not known as what they are', async () => {
    const body = new URLSearchParams({ manifest: JSON.stringify(TRUE), owner: 'bob' }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await alice.post('/jobs', { body, headers });
    expect(answer.body).toMatchObject({
      status: 400,
      code: 'request.unknown-parameter',
      detail: 'Unknown form field: owner',
      violations: [{ field: 'owner', problem: 'is not known here' }],
    });
    const empty = await alice.post('/jobs', { body: '', headers });
    expect([empty.status, empty.body.violations]).toEqual([
      400,
      [{ field: 'manifest', problem: 'is missing' }],
    ]);
  });

  it('refuses other content types', async () => {
    const answer = await alice.post('/jobs', {
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(415);
  });

  it('refuses groups that may not submit, and callers without a token', async () => {
    for (const [name, status] of [
      ['mona', 403],
      ['adam', 403],
    ] as const) {
      const client = await grid.as(name);
      expect((await client.post('/jobs', { json: TRUE })).status).toBe(status);
    }
    const nobody = await grid.anonymous.post('/jobs', { json: TRUE });
    expect(nobody.status).toBe(401);
    expect(nobody.headers['www-authenticate']).toContain('Bearer');
  });

  it('checks without making anything when asked to', async () => {
    const before = await count();
    const json = { ...TRUE, Parameters: 2, Arguments: '%n' };
    const { status, body } = await alice.post('/jobs', { json, query: { dryRun: true } });
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: true,
      jobs: 2,
      manifests: [
        expect.objectContaining({ Arguments: '0' }),
        expect.objectContaining({ Arguments: '1' }),
      ],
      warnings: [],
    });
    const refused = await alice.post('/jobs', { json: {}, query: { dryRun: true } });
    expect(refused.status).toBe(400);
    expect(await count()).toBe(before);
  });

  describe('with an Idempotency-Key', () => {
    const send = (key: string, json: object) =>
      alice.post('/jobs', { json, headers: { 'idempotency-key': key } });

    it('answers the same jobs again, whatever the order of keys', async () => {
      const first = await send('k1', { Executable: '/bin/true', JobName: 'x' });
      const before = await count();
      const second = await send('k1', { JobName: 'x', Executable: '/bin/true' });
      expect(second.status).toBe(200);
      expect(second.body).toEqual(first.body);
      expect(await count()).toBe(before);
    });

    it('answers 422 for another body', async () => {
      await send('k2', TRUE);
      const { status, body } = await send('k2', { ...TRUE, JobName: 'other' });
      expect([status, body.code]).toEqual([422, 'idempotency.mismatch']);
    });

    it('belongs to user and group', async () => {
      const mine = await send('k3', TRUE);
      const bob = await grid.as('bob');
      const his = await bob.post('/jobs', { json: TRUE, headers: { 'idempotency-key': 'k3' } });
      expect(his.status).toBe(200);
      expect(his.body.jids).not.toEqual(mine.body.jids);
    });

    it('makes the jobs once when requests race', async () => {
      const before = await count();
      const answers = await Promise.all(Array.from({ length: 8 }, () => send('k4', TRUE)));
      const good = answers.filter(({ status }) => status === 200);
      expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
      expect(new Set(good.map(({ body }) => String(body.jids))).size).toBe(1);
      expect(await count()).toBe(before + 1);
    });

    it('must be printable and short', async () => {
      expect((await send('x'.repeat(256), TRUE)).status).toBe(400);
    });
  });
});

describe('input data', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid.remove());

  it('fails the job, not the submit, when a file is not in the catalogue', async () => {
    const alice = await grid.as('alice');
    const { status, body } = await alice.post('/jobs', {
      json: { ...TRUE, InputData: ['LFN:/vo/no/such/file'] },
    });
    expect(status).toBe(200);
    const [job] = await awaitFinal(alice, body.jids);
    expect(job).toMatchObject({
      status: 'Failed',
      minorStatus: 'Input Data Not Available',
      appStatus: '/vo/no/such/file not in the catalogue',
    });
  });
});
