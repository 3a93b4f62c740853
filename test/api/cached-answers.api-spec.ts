import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

const ORIGIN = 'https://portal.example';
const DOCUMENTS = [
  '/.well-known/jwks.json',
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
];
/** Kept by browsers and caches as well, and asked for again with the tag. */
const ASSETS = ['/docs/openapi.json', '/docs'];
/** Headers of requests, and which origin the answer allows. */
const EXCHANGES: [Record<string, string>, string | undefined][] = [
  [{}, undefined],
  [{ origin: ORIGIN }, ORIGIN],
  [{ origin: 'https://other.example' }, undefined],
];

let grid: Grid;

beforeAll(async () => {
  grid = await startGrid({ env: { GRID_CORS_ORIGINS: ORIGIN } });
});
afterAll(async () => grid?.remove());

/** Names of a header that lists some, in lower case and in order. */
function namesIn({ headers }: Answer, header: string): string[] {
  const names = String(headers[header] ?? '').split(',');
  return names.map((name) => name.trim().toLowerCase()).sort();
}

describe('answers that caches keep', () => {
  it.each([...DOCUMENTS, ...ASSETS])('%s says that it depends on Origin', async (path) => {
    for (const [headers, allowed] of EXCHANGES) {
      const answer = await grid.anonymous.get(path, { headers });
      const said = answer.headers['access-control-allow-origin'];
      expect([answer.status, said]).toEqual([200, allowed]);
      expect(namesIn(answer, 'vary')).toContain('origin');
    }
  });

  it('name Origin beside what else they depend on', async () => {
    const path = `/filecatalogue/directory/${Buffer.from('/vo').toString('base64url')}/search`;
    for (const [headers] of EXCHANGES) {
      const answer = await (await grid.as('alice')).get(path, { headers });
      expect([answer.status, namesIn(answer, 'vary')]).toEqual([200, ['accept', 'origin']]);
    }
  });

  it('let pages of listed origins read the name of a file', async () => {
    const answer = await grid.anonymous.get('/.well-known/jwks.json', {
      headers: { origin: ORIGIN },
    });
    expect(namesIn(answer, 'access-control-expose-headers')).toEqual([
      'accept-ranges',
      'allow',
      'content-disposition',
      'content-range',
      'dpop-nonce',
      'etag',
      'grid-feed-position',
      'link',
      'location',
      'retry-after',
      'www-authenticate',
      'x-request-id',
    ]);
  });

  it.each(DOCUMENTS)('%s has an ETag, and is not sent to whoever names it', async (path) => {
    const get = (headers: Record<string, string> = {}): Promise<Answer> =>
      grid.anonymous.get(path, { headers });
    const first = await get();
    const tag = String(first.headers['etag']);
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
    for (const named of [tag, `"x", ${tag}`, tag.replace('W/', ''), '*']) {
      for (const coding of ['identity', 'gzip']) {
        const again = await get({ 'if-none-match': named, 'accept-encoding': coding });
        expect([named, again.status, again.bytes.length]).toEqual([named, 304, 0]);
        const { etag, vary, 'cache-control': cached, 'content-type': type } = again.headers;
        expect({ etag, vary, cached, type }).toEqual({
          etag: tag,
          vary: first.headers['vary'],
          cached: 'public, max-age=300',
          type: undefined,
        });
      }
    }
    const head = await grid.anonymous.head(path, { headers: { 'if-none-match': tag } });
    expect([head.status, head.headers['etag']]).toEqual([304, tag]);
    for (const other of ['W/"x"', '""', tag.slice(0, -2)]) {
      const { status, body } = await get({ 'if-none-match': other });
      expect([other, status, body]).toEqual([other, 200, first.body]);
    }
  });
});
