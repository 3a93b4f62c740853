import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startServerProcess } from '../support/server-process.mjs';
import { startGrid, support, type Grid } from '../support/testbed.js';

/** The base64 of 32 bytes. */
const KEY = Buffer.alloc(32, 7).toString('base64');

let grid: Grid;
let busy: Server;
let folder: string;

beforeAll(async () => {
  grid = await startGrid({ ownProcess: true });
  folder = await mkdtemp(join(tmpdir(), 'grid-start-'));
  busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  await new Promise((resolve) => busy?.close(resolve));
  await grid?.remove();
  await rm(folder, { recursive: true, force: true });
});

/** What the start says when it is refused. */
async function refusal(env: Record<string, string>): Promise<string> {
  const { root } = support();
  const base = { GRID_HOME: join(folder, 'home'), DATABASE_URL: grid.database.url, GRID_PORT: '0' };
  try {
    const server = await startServerProcess({ root, ownProcess: true, env: { ...base, ...env } });
    await server.kill();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the server has started');
}

describe('the TypeORM command line', () => {
  const show = async (env: Record<string, string>): Promise<string> => {
    const { root } = support();
    const command = join(root, 'node_modules/typeorm/cli.js');
    const argv = [command, 'migration:show', '-d', join(root, 'dist/ormconfig.js')];
    const child = spawn(process.execPath, argv, { env: { ...process.env, ...env }, cwd: root });
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return stdout + stderr;
  };

  it('finds every migration of a running database carried out', async () => {
    const shown = await show({ GRID_HOME: grid.home, DATABASE_URL: grid.database.url });
    const marks = shown.split('\n').filter((line) => /\[.\]/.test(line));
    expect(marks).toHaveLength(2);
    expect(marks.every((line) => line.includes('[X]'))).toBe(true);
  });

  it('says what is missing when there is no database', async () => {
    const shown = await show({ GRID_HOME: join(folder, 'nothing'), DATABASE_URL: '' });
    expect(shown).toContain('no database: set DATABASE_URL, or start the server of this GRID_HOME');
  });
});

describe('a start is refused with a clear message', () => {
  it('for a second instance on the same GRID_HOME', async () => {
    const message = await refusal({ GRID_HOME: grid.home });
    expect(message).toContain('ended with 1');
    expect(message).toMatch(/gridgate: GRID_HOME.*pid \d+/);
  });

  it('for a port in use', async () => {
    const { port } = busy.address() as AddressInfo;
    const message = await refusal({ GRID_PORT: String(port) });
    expect(message).toContain(
      `gridgate: port ${port} on 127.0.0.1 is in use: stop the other program or set GRID_PORT`,
    );
  });

  it('for a GRID_HOME that is a file', async () => {
    const path = join(folder, 'file');
    await writeFile(path, '');
    expect(await refusal({ GRID_HOME: path })).toContain(
      `gridgate: GRID_HOME: ${path} cannot be created: it is not a directory`,
    );
  });

  it('for a GRID_HOME in which no socket can be made for its worker', async () => {
    const home = join(folder, 'no-socket');
    await mkdir(join(home, 'worker', 'socket'), { recursive: true });
    expect(await refusal({ GRID_HOME: home })).toMatch(
      /gridgate: GRID_HOME: no socket can be made in .*worker \(\w+\): put GRID_HOME on a local disk/,
    );
    expect(await refusal({ GRID_HOME: home, GRID_LOCAL_EXECUTOR: 'false' }).catch(String)).toBe(
      'Error: the server has started',
    );
  });

  it('for a GRID_HOME that cannot be written', async () => {
    const path = process.getuid?.() === 0 ? '/proc/grid' : join(folder, 'closed', 'home');
    if (process.getuid?.() !== 0) {
      const closed = await mkdtemp(join(folder, 'c'));
      await chmod(closed, 0o500);
      expect(await refusal({ GRID_HOME: join(closed, 'home') })).toMatch(/gridgate: GRID_HOME/);
      return;
    }
    expect(await refusal({ GRID_HOME: path })).toMatch(/gridgate: GRID_HOME/);
  });

  it.each([
    ['GRID_PORT', 'many', 'GRID_PORT="many" is not a whole number from 0 to 65535'],
    ['GRID_ROLE', 'boss', 'GRID_ROLE="boss" is not one of all, api, worker'],
    ['GRID_DEMO', 'maybe', 'GRID_DEMO="maybe" is not one of true, false, 1, 0, yes, no'],
    ['GRID_PUBLIC_URL', 'ftp://x', 'GRID_PUBLIC_URL="ftp://x" is not an http(s) URL'],
    ['DATABASE_URL', 'mysql://u:geheim@h/x', 'DATABASE_URL=(hidden) is not a postgres:// URL'],
    [
      'GRID_REGISTRY_SYNC',
      'true',
      'GRID_REGISTRY_SYNC=true needs the file that rules: set GRID_REGISTRY',
    ],
  ])('for %s=%s', async (name, value, expected) => {
    const message = await refusal({ [name]: value });
    expect(message).toContain(`gridgate: ${expected}`);
    expect(message).not.toContain('geheim');
  });

  it('names every bad variable at once', async () => {
    const message = await refusal({ GRID_ROLE: 'boss', GRID_HOST: '127.0.0.1', GRID_DEMO: 'x' });
    expect(message).toContain('GRID_ROLE=');
    expect(message).toContain('GRID_DEMO=');
  });

  it('in production without TLS files', async () => {
    const message = await refusal({ NODE_ENV: 'production', GRID_KEY_ENCRYPTION_KEY: KEY });
    expect(message).toContain('GRID_TLS_CERT is not set');
    expect(message).not.toContain('GRID_KEY_ENCRYPTION_KEY');
  });

  it('in production without a key that encrypts what is stored', async () => {
    const message = await refusal({ NODE_ENV: 'production', GRID_TLS: 'off' });
    expect(message).toContain(
      'GRID_KEY_ENCRYPTION_KEY is not set: in production private keys and tokens of identity providers are never stored without it; give the output of: openssl rand -base64 32 (the same on every instance, with a copy in your vault)',
    );
  });

  it('with cipher suites that OpenSSL does not know', async () => {
    const message = await refusal({ GRID_TLS_CIPHERS: 'NONSENSE' });
    expect(message).toContain('GRID_TLS_CIPHERS=NONSENSE');
  });
});

describe('GET /metrics', () => {
  it('answers in its one spelling', async () => {
    const answer = await grid.anonymous.get('/metrics?x=1');
    expect([answer.status, String(answer.body).includes('gridgate_')]).toEqual([200, true]);
  });

  it.each(['/metrics/', '/METRICS', '/%6detrics', '//metrics', '/metrics;x', '/metrics%2F'])(
    'is not %s, which a load balancer may let pass',
    async (path) => {
      const { status, body } = await grid.anonymous.get(path);
      expect([status, body.code, body.detail]).toEqual([
        404,
        'route.not-found',
        'There is nothing at this address',
      ]);
    },
  );
});

describe('a stop', () => {
  it('by SIGTERM ends with 0 and says nothing on standard output but the ready line', async () => {
    const other = await startGrid({ ownProcess: true });
    const { code, signal } = await other.server.stop();
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(other.server.stdout()).toBe(`gridgate ready on ${other.url}\n`);
    await other.remove();
  });
});
