import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readDocument } from '../support/fuzz/document.js';
import { submit } from '../support/jobs.js';
import { startGrid, type Answer, type Grid, type GridClient } from '../support/testbed.js';

const DECODE: Record<string, (bytes: Buffer) => Buffer> = {
  br: (bytes) => brotliDecompressSync(bytes),
  gzip: (bytes) => gunzipSync(bytes),
};

/** Codings, length and decoded text of an answer. */
function sent(answer: Answer): { coding: unknown; vary: unknown; text: string } {
  const { 'content-encoding': coding, vary } = answer.headers;
  const text = (DECODE[String(coding)] ?? ((bytes) => bytes))(answer.bytes).toString('utf8');
  return { coding, vary, text };
}

describe('compressed answers', () => {
  let grid: Grid;
  let alice: GridClient;
  let jid: number;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_ROLE: 'api' } });
    alice = await grid.as('alice');
    [jid = 0] = await submit(
      alice,
      Array.from({ length: 60 }, () => ({ Executable: '/bin/true' })),
    );
    const fred = await grid.as('fred');
    const lines = Array.from({ length: 5_000 }, (_, i) =>
      JSON.stringify({ kind: 'file', path: `/vo/many/file-${i}`, size: i }),
    );
    const put = await fred.post('/filecatalogue/bulk', {
      body: lines.join('\n'),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect(put.status).toBe(200);
  });
  afterAll(() => grid?.remove());

  const get = (
    path: string,
    accept: string | undefined,
    more: Record<string, string> = {},
    client: GridClient = grid.anonymous,
  ): Promise<Answer> =>
    client.get(path, {
      headers: { ...(accept === undefined ? {} : { 'accept-encoding': accept }), ...more },
    });

  describe.each([
    '/portal/',
    '/portal/style.css',
    '/docs',
    '/docs/swagger-ui-bundle.js',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui-init.js',
    '/docs/openapi.json',
    '/docs/openapi.yaml',
  ])('%s', (path) => {
    it('comes in the best coding, with a tag for each, and is not sent twice', async () => {
      const plain = await get(path, undefined);
      expect(sent(plain)).toMatchObject({ coding: undefined, vary: 'Accept-Encoding' });
      const tags = new Set([plain.headers['etag']]);
      for (const [accept, coding] of [
        ['gzip, deflate, br', 'br'],
        ['gzip', 'gzip'],
        ['br;q=0.1, gzip;q=0.2', 'gzip'],
        ['*', 'br'],
      ]) {
        const coded = await get(path, accept);
        const { text, ...rest } = sent(coded);
        expect([coded.status, rest]).toEqual([200, { coding, vary: 'Accept-Encoding' }]);
        expect(text === plain.bytes.toString('utf8')).toBe(true);
        expect(coded.bytes.length).toBeLessThan(plain.bytes.length * 0.7);
        expect(coded.headers['content-type']).toBe(plain.headers['content-type']);
        expect(coded.headers['content-length']).toBe(String(coded.bytes.length));
        expect(coded.headers['cache-control']).toBe('no-cache');
        expect(coded.headers['content-security-policy']).toContain("default-src 'none'");
        tags.add(coded.headers['etag']);
        const known = await get(path, accept, { 'if-none-match': String(coded.headers['etag']) });
        expect([known.status, known.bytes.length]).toEqual([304, 0]);
        expect(known.headers).toMatchObject({
          etag: coded.headers['etag'],
          vary: 'Accept-Encoding',
        });
      }
      expect(tags.size).toBe(3);
      const foreign = await get(path, 'br', { 'if-none-match': String(plain.headers['etag']) });
      expect(foreign.status).toBe(200);
    });

    it('answers HEAD with the same head, and ranges of the thing itself', async () => {
      const whole = await get(path, 'gzip');
      const head = await grid.anonymous.head(path, { headers: { 'accept-encoding': 'gzip' } });
      for (const name of ['content-encoding', 'content-length', 'content-type', 'etag', 'vary']) {
        expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
      }
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
      const part = await get(path, 'gzip', { range: 'bytes=1-5' });
      const plain = await get(path, undefined);
      expect(sent(part).coding).toBeUndefined();
      const expected = part.status === 206 ? plain.bytes.subarray(1, 6) : plain.bytes;
      expect(part.bytes.equals(expected)).toBe(true);
    });
  });

  it.each(['identity', 'identity;q=0', 'gzip;q=0', 'zstd, x-mine', '*;q=0', 'identity, br;q=0.9'])(
    'files come as they are for %s',
    async (accept) => {
      const answer = await get('/docs/openapi.json', accept);
      expect(sent(answer)).toMatchObject({ coding: undefined, vary: 'Accept-Encoding' });
      expect(answer.status).toBe(200);
    },
  );

  it.each([
    ['a page of jobs', '/jobs?maxJobs=50', {}],
    ['a listing that is streamed', '/filecatalogue/directory/L3ZvL21hbnk?verbose=1', {}],
    ['a page of a listing', '/filecatalogue/directory/L3ZvL21hbnk?limit=1000', {}],
  ])('%s is compressed for who takes gzip', async (_, path, more) => {
    const plain = await get(path, undefined, more, alice);
    expect([plain.status, sent(plain).coding, sent(plain).vary]).toEqual([
      200,
      undefined,
      'Accept-Encoding',
    ]);
    const coded = await get(path, 'br, gzip;q=0.5', more, alice);
    expect([coded.status, sent(coded).coding, sent(coded).vary]).toEqual([
      200,
      'gzip',
      'Accept-Encoding',
    ]);
    expect(sent(coded).text === sent(plain).text).toBe(true);
    expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 2);
    expect(coded.headers['cache-control']).toBe('no-store');
    const refused = await get(path, 'br, identity', more, alice);
    expect(sent(refused).coding).toBeUndefined();
    const signed = await get(path, 'gzip', { cookie: 'x=y' }, alice);
    expect(sent(signed).coding).toBeUndefined();
    const head = await alice.head(path, { headers: { 'accept-encoding': 'gzip', ...more } });
    expect([head.status, head.headers['content-encoding'], head.bytes.length]).toEqual([
      200,
      'gzip',
      0,
    ]);
  });

  it('short answers and errors are left as they are', async () => {
    for (const path of [`/jobs/${jid}`, '/jobs/summary', '/jobs?maxJobs=nonsense', '/jobs/0']) {
      const answer = await get(path, 'gzip, br', {}, alice);
      expect([path, answer.headers['content-encoding'], answer.headers['vary']]).toEqual([
        path,
        undefined,
        undefined,
      ]);
    }
  });

  it('nothing below /oauth2 is compressed, whatever it answers', async () => {
    const headers = { 'accept-encoding': 'gzip, br, *' };
    const certificate = await grid.certificate('alice');
    const operations = readDocument().operations.filter(({ path }) => path.startsWith('/oauth2'));
    expect(operations.length).toBeGreaterThan(10);
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const answers = [
      await certificate.get('/oauth2/token', { query, headers }),
      await grid.anonymous.get('/oauth2/auth/nowhere', { headers }),
    ];
    for (const { method, path } of operations) {
      const at = path.replaceAll(/\{\w+\}/g, 'x');
      for (const client of [certificate, alice, grid.anonymous]) {
        answers.push(await client.call(method, at, { headers }));
        answers.push(await client.call(method, `${at}?${'state=x&'.repeat(500)}`, { headers }));
        if (method === 'POST') answers.push(await client.post(at, { headers, form: query }));
      }
    }
    expect(answers[0]?.status).toBe(200);
    expect(answers.some(({ bytes }) => bytes.length > 2_048)).toBe(true);
    expect(answers.filter((answer) => answer.headers['content-encoding'] !== undefined)).toEqual(
      [],
    );
  });
});
