import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodePath } from '#src/client/index.js';
import { CommandUser } from '../support/command.js';
import { startGrid, type Grid, type GridClient } from '../support/testbed.js';

const GUID = '0F8FAD5B-D9CB-469F-A165-70867728950E';

describe('what has one meaning', () => {
  let grid: Grid;
  let fred: GridClient;

  beforeAll(async () => {
    grid = await startGrid();
    fred = await grid.as('fred');
  });
  afterAll(() => grid?.remove());

  const file = (path: string): string => `/filecatalogue/file/${encodePath(path)}`;
  const json = (text: string): { body: string; headers: Record<string, string> } => ({
    body: text,
    headers: { 'content-type': 'application/json' },
  });
  const bulk = async (...lines: object[]): Promise<unknown[]> => {
    const { body } = await fred.post('/filecatalogue/bulk', {
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    return String(body)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  };

  describe('checksums and GUIDs', () => {
    it.each([
      ['Adler-32 without its leading zero', { Checksum: '09600001' }, { Checksum: '9600001' }],
      ['Adler-32 of nothing', { Checksum: '00000001' }, { Checksum: '1' }],
      ['an Adler-32 that is zero', { Checksum: '0' }, { Checksum: '00000000' }],
      ['Adler-32 in other letters', { Checksum: '00ABCDEF' }, { Checksum: 'abcdef' }],
      [
        'another name of Adler-32',
        { Checksum: '0a', ChecksumType: 'ADLER32' },
        { Checksum: 'a', ChecksumType: 'Adler-32' },
      ],
      ['a GUID without hyphens', { GUID }, { GUID: GUID.replaceAll('-', '').toLowerCase() }],
    ])('are the same: %s', async (what, first, second) => {
      const path = `/vo/same ${what}`;
      const put = (members: object): Promise<{ status: number; body: unknown }> =>
        fred.put(file(path), { json: { Size: 10, ...members } });
      expect((await put(first)).status).toBe(201);
      const again = await put(second);
      expect([again.status, again.body]).toEqual([200, { path, created: false }]);
    });

    it.each([
      ['checksum', { Checksum: '09600001' }, { Checksum: '96000010' }],
      [
        'checksum',
        { Checksum: `0${'a'.repeat(31)}`, ChecksumType: 'MD5' },
        { Checksum: 'a'.repeat(31), ChecksumType: 'MD5' },
      ],
      ['GUID', { GUID }, { GUID: GUID.replace('0F', '00') }],
      ['GUID', { GUID: 'a-b' }, { GUID: 'ab' }],
      ['checksum type', { Checksum: '1' }, { Checksum: '1', ChecksumType: 'CRC32' }],
    ])('are another %s: %j and %j', async (what, first, second) => {
      const path = `/vo/other ${JSON.stringify(second).slice(0, 100)}`;
      await fred.put(file(path), { json: { Size: 10, ...first } });
      const { status, body } = await fred.put(file(path), { json: { Size: 10, ...second } });
      expect([status, body.detail]).toEqual([409, `${path} is registered with another ${what}`]);
    });

    it('are compared so in bulk', async () => {
      const line = { kind: 'file', path: '/vo/bulk-sum', size: 1, guid: GUID };
      await bulk({ ...line, checksum: '0012' });
      expect(await bulk({ ...line, checksum: '12', guid: GUID.replaceAll('-', '') })).toEqual([
        expect.objectContaining({ unchanged: 1, failed: 0 }),
      ]);
    });
  });

  describe('new names of the catalogue', () => {
    const fault = 'has a name with control characters, such as an end of a line';

    it.each(['new\n', 'a\tb', '\u001b[31m', 'x\u007f', 'c1\u0085'])(
      'have no control characters: %j',
      async (name) => {
        const refused = [{ field: 'path', problem: fault }];
        const place = encodePath(`/vo/${name}`);
        const made = await fred.post(`/filecatalogue/directory/${place}`);
        expect([made.status, made.body.violations]).toEqual([400, refused]);
        const put = await fred.put(file(`/vo/${name}`), { json: { Size: 1 } });
        expect([put.status, put.body.violations]).toEqual([400, refused]);
        const above = await fred.put(file(`/vo/${name}/f`), { json: { Size: 1 } });
        expect([above.status, above.body.violations]).toEqual([400, refused]);
        const lines = await bulk(
          { kind: 'file', path: `/vo/well${encodePath(name)}`, size: 1 },
          { kind: 'file', path: `/vo/${name}`, size: 1 },
        );
        expect(lines).toEqual([
          expect.objectContaining({ line: 2 }),
          expect.objectContaining({ created: 1, failed: 1 }),
        ]);
        expect((await fred.get(`/filecatalogue/directory/${place}`)).status).toBe(404);
      },
    );
  });

  describe('a member that stands twice', () => {
    it.each([
      ['POST', '/jobs', '{"Executable":"/bin/true","Executable":"/bin/false"}', 'Executable'],
      ['POST', '/jobs?dryRun=true', '{"Executable":"/bin/true","x":[{"a":1,"\\u0061":2}]}', 'a'],
      ['PUT', file('/vo/twice'), '{"Size":1,"Replicas":{},"Size":2}', 'Size'],
      ['POST', '/filecatalogue/metadata', '{"name":"n","type":"int","name":"m"}', 'name'],
      ['POST', '/webhooks', '{"url":"https://a.example","url":"https://b.example"}', 'url'],
    ])('is refused: %s %s %s', async (method, path, text, name) => {
      const caller = path.startsWith('/filecatalogue') ? fred : await grid.as('alice');
      const { status, body } = await caller.call(method, path, json(text));
      expect([status, body.code, body.detail]).toEqual([
        400,
        'request.malformed-body',
        `The body has the member "${name}" twice in one object; leave one of them out`,
      ]);
    });

    it('is refused in each of many manifests, and by the command', async () => {
      const alice = await grid.as('alice');
      const text = '{"manifests":[{"Executable":"/bin/true"},{"Executable":"a","Executable":"b"}]}';
      const many = await alice.post('/jobs', json(text));
      expect([many.status, many.body.detail]).toEqual([
        400,
        'Manifest 2 has the member "Executable" twice in one object; leave one of them out',
      ]);
      const home = await mkdtemp(join(tmpdir(), 'grid-twice-'));
      const user = new CommandUser(home);
      await user.login(grid);
      await writeFile(join(home, 'job.json'), '{"Executable":"a","Executable":"b"}');
      expect(await user.run(['submit', 'job.json'])).toEqual({
        ...{ code: 2, stdout: '' },
        stderr:
          'gridgate: job.json has the member "Executable" twice in one object\nhint: leave one of them out\n',
      });
      await rm(home, { recursive: true });
    });
  });
});
