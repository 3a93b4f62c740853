import { FormData } from 'undici';
import { awaitFinal, parametersOf, sandboxOf, show, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const FILE = 'dirac_job_input.json';
const NO_ADDRESS =
  'has no replica with an address: register one with its URL as PFN, or have the program fetch it';

/** More digits than a double holds, names that JSON and shells treat specially, several replicas, kinds of checksum. */
const LINES = [
  {
    path: '/vo/in/plain.root',
    size: 10,
    checksum: '0a1b2c3d',
    checksumType: 'Adler32',
    replicas: [
      { se: 'SE-A', pfn: 'root://a.example:1094//vo/in/plain.root' },
      { se: 'SE-B', pfn: 'https://b.example/vo/in/plain.root' },
    ],
  },
  {
    path: '/vo/in/large',
    size: '9007199254740993',
    checksum: 'd41d8cd98f00b204e9800998ecf8427e',
    checksumType: 'MD5',
    replicas: [{ se: 'SE-A', pfn: 'davs://a.example/vo/in/large' }],
  },
  {
    path: '/vo/in/a "quoted", $name',
    size: 0,
    replicas: [{ se: 'SE-A', pfn: 'https://a.example/a%20%22quoted%22' }],
  },
  { path: '/vo/in/nowhere', size: 1, replicas: [{ se: 'SE-B' }] },
  { path: '/vo/in/relative', size: 1, replicas: [{ se: 'SE-A', pfn: '/vo/in/relative' }] },
];

describe('a job with input data', () => {
  let grid: Grid;
  let alice: GridClient;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_LOCAL_SLOTS: '2' } });
    alice = await grid.as('alice');
    const lines = [
      '{"kind":"directory","path":"/vo/in"}',
      ...LINES.map(({ size, ...line }) =>
        JSON.stringify({ kind: 'file', ...line }).replace(/}$/, `,"size":${size}}`),
      ),
    ];
    const { bytes } = await alice.post('/filecatalogue/bulk', {
      body: lines.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(bytes.toString('utf8')).toContain('"failed":0');
  });
  afterAll(async () => grid?.remove());

  it('finds where its files lie, digit by digit', async () => {
    const InputData = LINES.map(({ path }) => `LFN:${path}`);
    const command = `pwd; echo "$GRIDGATE_INPUT_DATA"; cat "$GRIDGATE_INPUT_DATA"; ls -l ${FILE} | cut -c1-10`;
    const json = { Executable: '/bin/sh', Arguments: ['-c', command], InputData };
    const { status, body } = await alice.post('/jobs', { json });
    expect([status, body.warnings]).toEqual([
      200,
      [3, 4].map((index) => ({
        code: 'manifest.input-not-brought',
        detail: `${LINES[index]?.path} ${NO_ADDRESS}`,
        pointer: `/InputData/${index}`,
      })),
    ]);
    const [jid = 0] = body.jids;
    await awaitFinal(alice, [jid]);
    const output = (await sandboxOf(alice, jid))['std.out'] ?? '';
    const [directory, path, text = '', mode] = output.split('\n');
    expect([path, mode]).toEqual([`${directory}/${FILE}`, '-rw-------']);
    expect(text).toContain('"size_bytes":9007199254740993');
    expect(JSON.parse(text)).toEqual({
      'LFN:/vo/in/plain.root': {
        replicas: [
          { url: 'root://a.example:1094//vo/in/plain.root', se: 'SE-A' },
          { url: 'https://b.example/vo/in/plain.root', se: 'SE-B' },
        ],
        size_bytes: 10,
        checksum: { adler32: '0a1b2c3d' },
      },
      'LFN:/vo/in/large': {
        replicas: [{ url: 'davs://a.example/vo/in/large', se: 'SE-A' }],
        size_bytes: expect.any(Number),
        checksum: { md5: 'd41d8cd98f00b204e9800998ecf8427e' },
      },
      'LFN:/vo/in/a "quoted", $name': {
        replicas: [{ url: 'https://a.example/a%20%22quoted%22', se: 'SE-A' }],
        size_bytes: 0,
        checksum: {},
      },
      'LFN:/vo/in/nowhere': { replicas: [], size_bytes: 1, checksum: {} },
      'LFN:/vo/in/relative': { replicas: [], size_bytes: 1, checksum: {} },
    });
    expect(await parametersOf(alice, jid)).not.toHaveProperty('OutputNotRequested');
  });

  it('has neither file nor variable when it names none', async () => {
    const command = `ls -A; echo "<\${GRIDGATE_INPUT_DATA-unset}>"`;
    const [jid = 0] = await submit(alice, [
      { Executable: '/bin/sh', Arguments: ['-c', command], InputData: [] },
    ]);
    await awaitFinal(alice, [jid]);
    expect((await sandboxOf(alice, jid))['std.out']).toBe('<unset>\n');
  });

  it('fails when a file has gone while it waited, and says which', async () => {
    const files = ['/vo/in/gone-1', '/vo/in/gone-2'].map((path) => ({
      kind: 'file',
      path,
      size: 1,
    }));
    const body = files.map((line) => JSON.stringify(line)).join('\n');
    const headers = { 'content-type': 'application/x-ndjson' };
    await alice.post('/filecatalogue/bulk', { body, headers });
    const first = { Executable: '/bin/sleep', Arguments: '600' };
    const holders = await submit(alice, [first, first]);
    await eventually(async () => {
      const all = await Promise.all(holders.map((jid) => show(alice, jid)));
      return all.every(({ status }) => status === 'Running');
    }, 'no place to be free');
    const InputData = ['/vo/in/gone-1', '/vo/in/gone-2', '/vo/in/large'];
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/true', InputData }]);
    await eventually(async () => (await show(alice, jid)).status === 'Waiting', 'its admission');
    await grid.sql("delete from catalogue_file where name like 'gone-%'");
    await Promise.all(holders.map((holder) => alice.delete(`/jobs/${holder}`)));
    expect(await awaitFinal(alice, [jid])).toMatchObject([
      {
        status: 'Failed',
        minorStatus: 'Input Data Not Available',
        appStatus: '/vo/in/gone-1 and 1 more not in the catalogue',
      },
    ]);
  });

  it('may not bring a file of that name', async () => {
    const multipart = new FormData();
    multipart.append(
      'manifest',
      JSON.stringify({ Executable: '/bin/true', InputData: '/vo/in/large' }),
    );
    multipart.append('file', new Blob(['{}']), FILE);
    const { status, body } = await alice.post('/jobs', { multipart });
    const problem = `${FILE}: the service writes this file, name yours otherwise`;
    expect([status, body.violations]).toEqual([400, [{ field: 'InputSandbox', problem }]]);
    const alone = new FormData();
    alone.append('manifest', JSON.stringify({ Executable: '/bin/true' }));
    alone.append('file', new Blob(['{}']), FILE);
    expect((await alice.post('/jobs', { multipart: alone })).status).toBe(200);
  });
});
