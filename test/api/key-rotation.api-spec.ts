import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { randomBytes } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { eventually, startGrid, support, type Grid } from '../support/testbed.js';

const ENCRYPTION_KEY = randomBytes(32).toString('base64');

async function rotate(grid: Grid, ...options: string[]): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(support().root, 'dist/src/cli/main.js'), 'keys', 'rotate', ...options],
    {
      env: {
        ...process.env,
        GRID_HOME: grid.home,
        DATABASE_URL: grid.database.url,
        GRID_PUBLIC_URL: grid.url,
        GRID_KEY_ENCRYPTION_KEY: ENCRYPTION_KEY,
      },
      stdio: 'inherit',
    },
  );
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`keys rotate ended with ${String(code)}`);
}

describe('rotation of signing keys', () => {
  let grid: Grid;
  let second: Grid;
  beforeAll(async () => {
    const env = { GRID_KEY_ENCRYPTION_KEY: ENCRYPTION_KEY };
    grid = await startGrid({ env });
    second = await grid.second({ GRID_PUBLIC_URL: grid.url });
  });
  afterAll(async () => {
    await second?.server.stop();
    await grid?.remove();
  });

  const keyIds = async (on: Grid, algorithm = 'ES256'): Promise<string[]> => {
    const { body } = await on.anonymous.get<{ keys: { kid: string; alg: string }[] }>(
      '/.well-known/jwks.json',
    );
    return body.keys.filter(({ alg }) => alg === algorithm).map(({ kid }) => kid);
  };
  const kidOf = (token: string) => decodeProtectedHeader(token).kid!;

  const refusedAt = (on: Grid, token: string): Promise<boolean> =>
    eventually(
      async () => (await on.bearer(token).get('/jobs')).status === 401,
      'the key to be forgotten',
    );

  it('publishes the next key before it signs, and fails no request on either instance', async () => {
    const before = await grid.token('alice', 'grid_user');
    const published = await keyIds(grid);
    expect(published).toHaveLength(2);
    expect(await keyIds(second)).toEqual(published);
    // as if the next key had been published for long enough
    await grid.sql("update signing_key set created_at = now() - interval '1 hour'");
    const load = { running: true, statuses: new Set<number>() };
    const worker = async (on: Grid) => {
      const alice = await on.certificate('alice');
      const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
      while (load.running) {
        const answer = await alice.get('/oauth2/token', { query });
        load.statuses.add(answer.status);
        for (const other of [grid, second]) {
          load.statuses.add((await other.bearer(answer.body.access_token).get('/jobs')).status);
        }
      }
    };
    const workers = [worker(grid), worker(second)];
    await rotate(grid);
    const after = await eventually(async () => {
      const token = await grid.token('alice', 'grid_user');
      return kidOf(token) !== kidOf(before) && token;
    }, 'the next key signs');
    await eventually(
      async () => kidOf(await second.token('alice', 'grid_user')) === kidOf(after),
      'the other instance follows',
    );
    load.running = false;
    await Promise.all(workers);
    expect([...load.statuses]).toEqual([200]);
    expect(published).toContain(kidOf(after));
    expect(await keyIds(grid)).toHaveLength(3);
    for (const token of [before, after]) {
      expect((await second.bearer(token).get('/jobs')).status).toBe(200);
    }
  });

  it('publishes the RSA keys of ID tokens as well, and rotates them with the others', async () => {
    const rsa = await eventually(async () => {
      const ids = await keyIds(second, 'RS256');
      return ids.length === 3 && ids;
    }, 'the RSA keys after a rotation');
    expect(await keyIds(grid, 'RS256')).toEqual(rsa);
  });

  it('keeps private keys encrypted at rest', async () => {
    const rows = await grid.sql<{ private_key: string; public_jwk: object }>(
      'select private_key, public_jwk from signing_key union all select private_key, public_jwk from id_token_key',
    );
    expect(rows.length).toBeGreaterThanOrEqual(6);
    for (const row of rows) {
      expect(row.private_key).toMatch(/^v1\./);
      expect(Object.keys(row.public_jwk)).not.toContain('d');
    }
  });

  it('waits with a key that is not published long enough', async () => {
    const before = await grid.token('alice', 'grid_user');
    await rotate(grid);
    const token = await grid.token('alice', 'grid_user');
    expect(kidOf(token)).toBe(kidOf(before));
    expect(await keyIds(grid)).toHaveLength(4);
  });

  it('forgets all keys at once after a leak: what they have signed is refused on each instance', async () => {
    const [before, leaked] = [await grid.token('alice', 'grid_user'), await keyIds(grid)];
    const rsa = await keyIds(grid, 'RS256');
    // Each instance has seen it, and remembers that it is good.
    for (const instance of [grid, second]) {
      expect((await instance.bearer(before).get('/jobs')).status).toBe(200);
    }
    await rotate(grid, '--now');
    const token = await grid.token('alice', 'grid_user');
    for (const instance of [grid, second]) {
      await refusedAt(instance, before);
      expect((await instance.bearer(token).get('/jobs')).status).toBe(200);
      const [first, next, ...others] = await keyIds(instance);
      expect([first, others]).toEqual([kidOf(token), []]);
      expect(leaked).not.toContain(first);
      expect(leaked).not.toContain(next);
      expect((await keyIds(instance, 'RS256')).filter((kid) => rsa.includes(kid))).toEqual([]);
    }
    await rotate(grid);
    expect(kidOf(await second.token('alice', 'grid_user'))).toBe(kidOf(token));
  });

  it('refuses to start with another key-encryption key, and says so', async () => {
    const wrong = { GRID_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
    await expect(grid.second(wrong)).rejects.toThrow('GRID_KEY_ENCRYPTION_KEY');
  });

  it('says with another encryption key at a start, and in commands, that sentence alone', async () => {
    const home = await mkdtemp(join(tmpdir(), 'grid-home-'));
    const env = {
      ...process.env,
      ...{ GRID_HOME: home, GRID_PORT: '0', DATABASE_URL: grid.database.url },
      GRID_KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    const said = async (...words: string[]): Promise<unknown> => {
      const [script = '', ...rest] = words;
      const program = [join(support().root, 'dist/src', script), ...rest];
      const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'pipe'] });
      const ended = once(child, 'close');
      const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
      return [((await ended) as [number])[0], out, error];
    };
    const sentence =
      'gridgate: the secrets in the database were encrypted with another key than GRID_KEY_ENCRYPTION_KEY\n';
    try {
      expect(await said('main.js')).toEqual([1, '', sentence]);
      expect(await said('cli/main.js', 'keys', 'list')).toEqual([1, '', sentence]);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('is told from a clock that was set back behind the first key', async () => {
    await grid.sql("update signing_key set active_from = active_from + interval '1 day'");
    await grid.sql("select pg_notify('signing_keys', '')");
    const alice = await grid.certificate('alice');
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const answer = await eventually(async () => {
      const got = await alice.get('/oauth2/token', { query });
      return got.status === 503 && got;
    }, 'the clock to be behind');
    const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/;
    const detail = new RegExp(
      `^The clock of the server is wrong: it is ${time.source} here, and the first signing key signs from ${time.source} on. Set the clock$`,
    );
    expect(answer.body).toMatchObject({
      code: 'service.unavailable',
      detail: expect.stringMatching(detail),
    });
    await grid.sql("update signing_key set active_from = active_from - interval '1 day'");
    await grid.sql("select pg_notify('signing_keys', '')");
    await eventually(
      async () => (await alice.get('/oauth2/token', { query })).status === 200,
      'the clock to be right again',
    );
  });
});
