import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGrid, type Grid } from '../support/testbed.js';

/** Of everything that the portal loads, compressed. */
const MOST_BYTES = 250_000;

describe('GET /portal/', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(() => grid?.remove());

  it('is a page that may load its own files only', async () => {
    const { status, headers, body } = await grid.anonymous.get<string>('/portal/');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['cache-control']).toBe('no-cache');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-src data:; ` +
        `connect-src 'self' ${grid.url}; form-action 'none'; base-uri 'none'; ` +
        `frame-ancestors 'none'; require-trusted-types-for 'script'`,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(body).not.toMatch(/<script(?![^>]* src="\.\/)|style=|https?:/);
  });

  it('knows the service and its application', async () => {
    const { status, headers, body } = await grid.anonymous.get('/portal/config.json');
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(body).toEqual({
      url: grid.url,
      clientId: 'portal',
      redirectUri: `${grid.url}/portal/`,
    });
  });

  it('is found without its last slash, and not loaded twice', async () => {
    const { status, headers } = await grid.anonymous.get('/portal');
    expect([status, headers['location']]).toEqual([301, '/portal/']);
    const first = await grid.anonymous.get('/portal/style.css');
    const again = await grid.anonymous.get('/portal/style.css', {
      headers: { 'if-none-match': String(first.headers['etag']) },
    });
    expect([first.status, again.status]).toEqual([200, 304]);
  });

  it('is where browsers are sent that come to the bare address; programs get 404', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const browser = await grid.anonymous.get('/', { headers });
    expect([browser.status, browser.headers['location']]).toEqual([303, '/portal/']);
    const program = await grid.anonymous.get('/');
    expect([program.status, program.body.code]).toEqual([404, 'route.not-found']);
    const posted = await grid.anonymous.post('/', { headers });
    expect(posted.status).toBe(404);
  });

  it('is one page, one script and one sheet, all together small', async () => {
    const { body: page } = await grid.anonymous.get<string>('/portal/');
    const names = [...page.matchAll(/ (?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name);
    expect(names.sort()).toEqual(['icon.svg', 'portal.js', 'style.css']);
    const answers = await Promise.all(
      ['', ...names].map((name) => grid.anonymous.get(`/portal/${name}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const sizes = answers.map(({ bytes }) => gzipSync(bytes).length);
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.each(['/portal/nothing.js', '/portal/..%2fsrc%2fmain.js', '/portal/%2e%2e/src/main.js'])(
    'has no %s',
    async (path) => {
      const { status, body } = await grid.anonymous.get(path);
      expect([status, body.code]).toEqual([404, 'route.not-found']);
    },
  );

  it('is not there without the demo', async () => {
    const plain = await startGrid({ env: { GRID_DEMO: 'false' } });
    try {
      const { status, body } = await plain.anonymous.get('/portal/');
      expect([status, body.code]).toEqual([404, 'route.not-found']);
    } finally {
      await plain.remove();
    }
  });

  it('is there without the demo where it is wanted', async () => {
    const wanted = await startGrid({ env: { GRID_DEMO: 'false', GRID_PORTAL: 'true' } });
    try {
      const { status, body } = await wanted.anonymous.get('/portal/config.json');
      expect([status, body.redirectUri]).toEqual([200, `${wanted.url}/portal/`]);
      const headers = { accept: 'text/html' };
      const browser = await wanted.anonymous.get('/', { headers });
      expect([browser.status, browser.headers['location']]).toEqual([303, '/portal/']);
    } finally {
      await wanted.remove();
    }
  });
});
