import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { FormData } from 'undici';
import { isNightly } from '../support/counts.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const TRUE = { Executable: '/bin/true' };
const NDJSON = { 'content-type': 'application/x-ndjson' };
const JSON_TYPE = { 'content-type': 'application/json' };
/** The usual limit at night, the same rule with less by day. */
const BULK = (isNightly ? 64 : 8) * 1024 * 1024;
const MOST_GROWTH_MIB = 160;

const lines = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ ...TRUE, JobName: `n${n}` }));

describe('POST /jobs with many manifests', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({
      ownProcess: true,
      env: {
        GRID_ROLE: 'api',
        GRID_MAX_BODY: String(1024 * 1024),
        GRID_MAX_BULK_BODY: String(BULK),
      },
    });
    alice = await grid.as('alice');
  });
  afterAll(async () => grid?.remove());

  const count = async (): Promise<number> =>
    Number((await grid.sql<{ n: string }>('select count(*) as n from jobs'))[0]?.n);
  const spooled = (): Promise<string[]> =>
    readdir(join(grid.home, 'sandboxes', 'spool')).catch(() => []);
  const post = (body: string | Buffer, headers: Record<string, string>) =>
    alice.post('/jobs', { body: body as string, headers });
  /** What came of a request that must make nothing. */
  const refused = async (body: string | Buffer, headers: Record<string, string>) => {
    const before = await count();
    const answer = await post(body, headers);
    expect(await count()).toBe(before);
    expect(await spooled()).toEqual([]);
    return answer;
  };
  const violation = (field: string, problem: string) =>
    expect.objectContaining({ code: 'request.invalid', violations: [{ field, problem }] });

  it.each<[string, string, Record<string, string>]>([
    ['a line each', `${lines(3).join('\n')}\n`, NDJSON],
    ['lines ended by CRLF, without the last end', lines(3).join('\r\n'), NDJSON],
    [
      'blank lines, a byte order mark and a charset',
      `\ufeff\n${lines(3).join('\n\n \t\r\n')}\n\n`,
      { 'content-type': 'application/x-ndjson; charset=utf-8' },
    ],
    [
      'a list with white space',
      `\ufeff { "manifests" :\n[${lines(3).join(' ,\n')}\n] } \n`,
      JSON_TYPE,
    ],
  ])('takes %s, in order', async (_what, body, headers) => {
    const { status, body: answer } = await post(body, headers);
    expect([status, answer]).toEqual([200, { jids: [1, 2, 3].map(() => expect.any(Number)) }]);
    const rows = await grid.sql<{ name: string }>(
      `select name from jobs where jid = any ('{${answer.jids.join(',')}}') order by jid`,
    );
    expect(rows.map(({ name }) => name)).toEqual(['n0', 'n1', 'n2']);
    expect(await spooled()).toEqual([]);
  });

  it('makes 10,000 jobs of a request, and none when line 7,321 is broken', async () => {
    const many = lines(10_000);
    const before = await count();
    const { status, body } = await post(many.join('\n'), NDJSON);
    expect([status, body.jids.length, new Set(body.jids).size]).toEqual([200, 10_000, 10_000]);
    expect(await count()).toBe(before + 10_000);
    many[7_320] = '{"Executable": }';
    expect((await refused(many.join('\n'), NDJSON)).body).toMatchObject({
      status: 400,
      code: 'request.malformed-body',
      detail:
        "Line 7321 is not valid JSON: Object value expected after ':' but got '}' at position 15",
    });
    many[7_320] = '{"Executable": 7}';
    expect((await refused(many.join('\n'), NDJSON)).body).toEqual(
      violation('line 7321.Executable', 'must be a text'),
    );
    expect((await refused(`{"manifests":[${many.join(',')}]}`, JSON_TYPE)).body).toEqual(
      violation('manifests[7320].Executable', 'must be a text'),
    );
  });

  it.each<[string, string, Record<string, string>, object]>([
    ['no line', '\n \n', NDJSON, violation('manifests', 'is empty')],
    ['an empty list', '{"manifests": []}', JSON_TYPE, violation('manifests', 'is empty')],
    [
      'something beside the list',
      `{"manifests":[${lines(1).join()}], "x": 1}`,
      JSON_TYPE,
      violation('x', 'is not known beside manifests'),
    ],
    [
      'two lists',
      `{"manifests":[${lines(1).join()}], "manifests": []}`,
      JSON_TYPE,
      violation('manifests', 'is given twice'),
    ],
    [
      'a list of something else',
      '{"manifests": [1, []]}',
      JSON_TYPE,
      expect.objectContaining({
        violations: [
          { field: 'manifests[0]', problem: 'must be an object' },
          { field: 'manifests[1]', problem: 'must be an object' },
        ],
      }),
    ],
    [
      'no list',
      '{"manifests": {}}',
      JSON_TYPE,
      violation('manifests', 'must be a list of objects'),
    ],
    [
      'a list that does not end',
      `{"manifests":[${lines(2).join()}`,
      JSON_TYPE,
      expect.objectContaining({
        code: 'request.malformed-body',
        detail: 'The list of manifests does not end',
      }),
    ],
    [
      'a line that is a list',
      `${lines(1).join()}\n[]`,
      NDJSON,
      expect.objectContaining({ detail: 'Line 2 must be a JSON object' }),
    ],
    [
      'a line that is not UTF-8',
      Buffer.concat([Buffer.from(lines(1).join()), Buffer.from([0x0a, 0xff, 0x0a])]) as never,
      NDJSON,
      expect.objectContaining({ detail: 'Line 2 is not valid UTF-8' }),
    ],
    [
      'deep nesting',
      `{"manifests":[{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}]}`,
      JSON_TYPE,
      expect.objectContaining({ code: 'request.malformed-body' }),
    ],
  ])('answers 400 for %s', async (_what, body, headers, problem) => {
    const answer = await refused(body, headers);
    expect([answer.status, answer.body]).toEqual([400, problem]);
  });

  it.each<[string, () => string, Record<string, string>, string]>([
    [
      'more manifests than allowed',
      () => lines(10_001).join('\n'),
      NDJSON,
      '10001 manifests were sent, at most 10000 are allowed',
    ],
    [
      'far more lines than allowed, of which not all are counted',
      () => lines(25_000).join('\n'),
      NDJSON,
      'At least 20000 manifests were sent, at most 10000 are allowed',
    ],
    [
      'far more elements than allowed, of which not all are counted',
      () => `{"manifests":[${','.repeat(25_000)}]}`,
      JSON_TYPE,
      'At least 20000 manifests were sent, at most 10000 are allowed',
    ],
    [
      'a manifest that is too long',
      () => `${lines(1).join()}\n${JSON.stringify({ ...TRUE, Note: 'x'.repeat(70_000) })}\n`,
      NDJSON,
      'Line 2 is larger than 65536 bytes',
    ],
    [
      'a last line above GRID_MAX_BODY that nothing ends',
      () => `${lines(1).join()}\n${JSON.stringify({ ...TRUE, Note: 'x'.repeat(1024 * 1024) })}`,
      NDJSON,
      'Line 2 is larger than 65536 bytes',
    ],
    [
      'a text without end in the middle of a list',
      () => `{"manifests":[${lines(1).join()},{"a":"${'x'.repeat(2 * 1024 * 1024)},{}]}`,
      JSON_TYPE,
      'The list of manifests does not end',
    ],
    [
      'a single manifest above GRID_MAX_BODY',
      () => JSON.stringify({ ...TRUE, Note: 'x'.repeat(1024 * 1024) }),
      JSON_TYPE,
      'The body is larger than 1048576 bytes',
    ],
  ])('refuses %s', async (_what, body, headers, detail) => {
    const answer = await refused(body(), headers);
    const status = detail.startsWith('The list') ? 400 : 413;
    expect(answer.body).toMatchObject({ status, detail });
  });

  it('refuses a body in a content encoding', async () => {
    for (const headers of [
      NDJSON,
      JSON_TYPE,
      { 'content-type': 'multipart/form-data; boundary=x' },
    ]) {
      const answer = await refused('x', { ...headers, 'content-encoding': 'gzip' });
      expect(answer.body).toMatchObject({
        status: 415,
        detail: 'Content encoding gzip is not supported',
      });
    }
  });

  it('takes a body of exactly GRID_MAX_BULK_BODY bytes in bounded memory, and none that is longer', async () => {
    const residentMib = async (): Promise<number> => {
      const text = await readFile(`/proc/${grid.server.child.pid}/status`, 'utf8');
      return Number(/VmHWM:\s+(\d+)/.exec(text)?.[1]) / 1024;
    };
    const note = 'x'.repeat(BULK / 11_000);
    const manifests = Array.from({ length: 9_000 }, () => JSON.stringify({ ...TRUE, Note: note }));
    const body = Buffer.alloc(BULK, ' ');
    body.write(`{"manifests":[${manifests.join(',')}]}`);
    const before = await residentMib();
    const made = await alice.post('/jobs', {
      body: body as never,
      headers: JSON_TYPE,
      query: { dryRun: true },
    });
    expect([made.status, made.body.jobs, made.body.manifests.length]).toEqual([200, 9_000, 9_000]);
    const growth = (await residentMib()) - before;
    expect(growth).toBeLessThan(MOST_GROWTH_MIB);
    expect(await spooled()).toEqual([]);
    const longer = await refused(Buffer.concat([body, Buffer.from(' ')]), JSON_TYPE).catch(
      () => undefined, // the connection may be cut before everything is sent
    );
    if (longer) {
      expect(longer.body).toMatchObject({
        status: 413,
        detail: `The body is larger than ${BULK} bytes`,
      });
    }
  });

  it('makes nothing of a body that is cut, and all of one that comes slowly', async () => {
    const token = await grid.token('alice', 'grid_user');
    const send = async (pieces: string[], length: number, isCut: boolean): Promise<string> => {
      const socket = connect({
        port: Number(new URL(grid.url).port),
        host: 'localhost',
        ca: grid.ca,
      });
      await once(socket, 'secureConnect');
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      socket.on('error', () => undefined);
      const head = ['POST /jobs HTTP/1.1', 'host: localhost', `authorization: Bearer ${token}`];
      socket.write(`${head.join('\r\n')}\r\nconnection: close\r\n`);
      socket.write(`content-type: application/x-ndjson\r\ncontent-length: ${length}\r\n\r\n`);
      for (const piece of pieces) {
        await new Promise((resolve) => socket.write(piece, resolve));
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (isCut) socket.destroy();
      if (!socket.closed) await once(socket, 'close');
      return answer;
    };
    const body = `${lines(50).join('\n')}\n`;
    const before = await count();
    await send([body.slice(0, 1000)], body.length, true);
    await eventually(async () => (await spooled()).length === 0, 'nothing in the spool');
    expect(await count()).toBe(before);
    expect(await send([...body], body.length, false)).toContain('HTTP/1.1 200 OK');
    expect(await count()).toBe(before + 50);
  });

  it('answers a repeated Idempotency-Key the same, whichever form the manifests come in', async () => {
    const headers = { 'idempotency-key': 'bulk' };
    const first = await post(lines(3).join('\n'), { ...NDJSON, ...headers });
    const second = await post(`{"manifests":[${lines(3).join(', ')}]}`, {
      ...JSON_TYPE,
      ...headers,
    });
    expect([second.status, second.body]).toEqual([200, first.body]);
    const other = await post(lines(4).join('\n'), { ...NDJSON, ...headers });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency.mismatch']);
  });

  it('takes the content of a file part named manifest as the manifest', async () => {
    const form = new FormData();
    form.append(
      'manifest',
      new File([JSON.stringify({ ...TRUE, JobName: 'of a file' })], 'm.json'),
    );
    form.append('manifest', JSON.stringify({ ...TRUE, JobName: 'of a field' }));
    form.append('data', new File(['one'], 'a.txt'));
    const { status, body } = await alice.post('/jobs', { multipart: form });
    expect(status).toBe(200);
    const manifests = await Promise.all(
      body.jids.map(async (jid: number) => (await alice.get(`/jobs/${jid}/manifest`)).body),
    );
    expect(manifests.map(({ JobName, InputSandbox }) => [JobName, InputSandbox])).toEqual([
      ['of a file', ['a.txt']],
      ['of a field', ['a.txt']],
    ]);
  });

  it.each<[string, string | Buffer, number, string]>([
    ['is no JSON', '{', 400, 'The manifest is not valid JSON'],
    ['is too long', 'x'.repeat(70_000), 413, 'A manifest is larger than 65536 bytes'],
    ['is not UTF-8', Buffer.from([0xff]), 400, 'A manifest is not valid UTF-8'],
  ])('refuses a manifest file that %s', async (_what, content, status, detail) => {
    const form = new FormData();
    form.append('manifest', new File([content], 'm.json'));
    const answer = await alice.post('/jobs', { multipart: form });
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)]);
    expect(await spooled()).toEqual([]);
  });

  describe('of a template', () => {
    const bytesOf = async (): Promise<number> => {
      const [row] = await grid.sql<{ n: string }>(
        `select (select coalesce(sum(length(manifest::text) + length(coalesce(place_values::text, ''))), 0)
          from job_descriptions) + (select coalesce(sum(length(manifest::text) + length(added::text)), 0)
          from job_templates) as n`,
      );
      return Number(row?.n);
    };

    it('stores the template once and small rows of values, and shows the manifest whole', async () => {
      const before = await bytesOf();
      const json = { ...TRUE, Note: 'x'.repeat(50_000), Arguments: '%s %j %n', Parameters: 300 };
      const { status, body } = await alice.post('/jobs', { json });
      expect([status, body.jids.length]).toEqual([200, 300]);
      expect((await bytesOf()) - before).toBeLessThan(50_000 + 300 * 50);
      const shown = await alice.get(`/jobs/${body.jids[299]}/manifest`);
      expect(shown.body).toEqual({
        ...TRUE,
        Note: json.Note,
        Arguments: `1 ${body.jids[299]} 299`,
        StdOutput: 'std.out',
        StdError: 'std.err',
        OutputSandbox: ['std.out', 'std.err'],
        Owner: 'alice',
        OwnerGroup: 'grid_user',
        OwnerDN: '/DC=org/DC=grid/CN=alice',
        VirtualOrganization: 'vo',
        Setup: 'Prod',
        JobName: 'Name',
        JobGroup: '00000000',
        JobType: 'User',
        Priority: 1,
        CPUTime: 86400,
        JobID: body.jids[299],
      });
    });

    it.each<[string, () => object, number, string]>([
      [
        'one manifest of 240 MB',
        () => ({ ...TRUE, Note: '%s'.repeat(8000), Parameters: ['x'.repeat(30_000)] }),
        413,
        'A manifest would be larger than 65536 bytes',
      ],
      [
        'thousands of manifests of 60 KB',
        () => ({ ...TRUE, Note: 'x'.repeat(60_000), Arguments: '%s', Parameters: 10_000 }),
        413,
        'The request would make more than 16777216 bytes of manifests',
      ],
      [
        'long numbers in thousands of sequences',
        () => ({
          ...TRUE,
          Note: Array.from({ length: 1_500 }, (_, n) => `%(${n})s`).join(''),
          ...Object.fromEntries(
            Array.from({ length: 1_500 }, (_, n) => [`Parameters.${n}`, 9_999]),
          ),
          ParameterFactor: 1.000001,
        }),
        413,
        'The request would make more than 16777216 bytes of manifests',
      ],
    ])('refuses %s before they are made', async (_what, json, status, detail) => {
      for (const query of [{ dryRun: false }, { dryRun: true }]) {
        const before = await count();
        const answer = await alice.post('/jobs', { json: json(), query });
        expect(answer.body).toMatchObject({ status, code: 'request.too-large', detail });
        expect(await count()).toBe(before);
      }
    });
  });
});
