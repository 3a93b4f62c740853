import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DpopCaller, makeKey } from '../support/applications.js';
import { awaitFinal, submit } from '../support/jobs.js';
import { startServerProcess } from '../support/server-process.mjs';
import { eventually, startGrid, support, type Grid, type GridClient } from '../support/testbed.js';

/** Processes that serve beside the first one. */
function servingOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return children
    .filter((child) => child !== '')
    .map(Number)
    .filter((child) => commandOf(child).includes('serving-process'));
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

describe('two processes with the embedded database', () => {
  it('use it together, with the keys of its GRID_HOME', async () => {
    const home = await mkdtemp(join(tmpdir(), 'grid-home-'));
    const { PATH = '' } = process.env;
    const env = {
      PATH,
      GRID_HOME: home,
      GRID_PORT: '0',
      GRID_PROCESSES: '2',
      GRID_SHUTDOWN_DRAIN: '0',
    };
    const server = await startServerProcess({ root: support().root, env });
    const agent = new Agent({ connect: { ca: await readFile(join(home, 'pki/ca.crt'), 'utf8') } });
    try {
      const serving = servingOf(server.child.pid ?? 0);
      expect(serving).toHaveLength(1);
      const { body } = await request(`${server.url}/metrics`, { dispatcher: agent });
      expect((await body.text()).match(/^process_start_time_seconds\{/gm)).toHaveLength(2);
      await server.stop();
      expect(serving.map(commandOf)).toEqual(['']);
    } finally {
      await agent.destroy();
      await server.kill();
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('three processes on one port', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_PROCESSES: '3', GRID_SHUTDOWN_DRAIN: '0' } });
  });
  afterAll(() => grid?.remove());

  const pid = (): number => grid.server.child.pid ?? 0;
  /** Each on a connection of its own. */
  const onNewConnections = async <T>(count: number, work: (client: GridClient) => Promise<T>) => {
    const answers: T[] = [];
    for (let n = 0; n < count; n += 1) {
      const client = await grid.as('alice');
      answers.push(await work(client));
      await client.close();
    }
    return answers;
  };
  const served = async (): Promise<Map<string, number>> => {
    const { bytes } = await grid.anonymous.get('/metrics');
    const counts = new Map<string, number>();
    const line = /^gridgate_http_requests_total\{.*process="(\d)".*\} (\d+)$/gm;
    for (const [, number = '', count] of String(bytes).matchAll(line)) {
      counts.set(number, (counts.get(number) ?? 0) + Number(count));
    }
    return counts;
  };

  it('serve requests and tell together what they have counted, whoever is asked', async () => {
    expect(servingOf(pid())).toHaveLength(2);
    await eventually(async () => {
      await onNewConnections(10, (client) => client.get('/jobs'));
      return (await served()).size === 3;
    }, 'each process to have served');
    const { bytes } = await grid.anonymous.get('/metrics');
    const text = String(bytes);
    expect(text.match(/^# TYPE gridgate_http_requests_total counter$/gm)).toHaveLength(1);
    for (const number of [0, 1, 2]) {
      expect(text).toContain(`process_start_time_seconds{process="${number}"}`);
    }
  });

  it('take a DPoP proof once together', async () => {
    const caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
    const query = 'grant_type=client_credentials&group=grid_user&setup=Prod';
    const { body } = await caller.call('GET', `/oauth2/token?${query}`);
    const token = body.access_token as string;
    const dpop = await caller.proof('GET', '/jobs', token);
    const headers = { authorization: `DPoP ${token}`, dpop };
    const answers = await onNewConnections(9, (client) => client.get('/jobs', { headers }));
    expect(answers.map(({ status }) => status)).toEqual([200, ...Array(8).fill(401)]);
  });

  it('know of each other at once: tokens, jobs, and that a token was revoked', async () => {
    const alice = await grid.as('alice');
    const jids = await submit(alice, Array(6).fill({ Executable: '/bin/true' }));
    await awaitFinal(alice, jids);
    const seen = await onNewConnections(9, async (client) => (await client.get('/jobs')).body);
    for (const { entries } of seen) expect(entries).toBe(6);
    const token = await grid.token('alice', 'grid_user');
    const owner = await grid.certificate('alice');
    const revoked = await owner.post('/oauth2/revoke', { form: { token } });
    expect(revoked.status).toBe(200);
    await eventually(async () => {
      const client = grid.bearer(token);
      const answers = await Promise.all(
        Array.from({ length: 9 }, async () => (await client.get('/jobs')).status),
      );
      return answers.every((status) => status === 401);
    }, 'the revocation to be known');
  });

  it('go on when one is killed, which is started again', async () => {
    const [victim = 0, other = 0] = servingOf(pid());
    process.kill(victim, 'SIGKILL');
    const again = await eventually(async () => {
      const [status] = await onNewConnections(
        1,
        async (client) => (await client.get('/jobs')).status,
      );
      expect(status).toBe(200);
      const now = servingOf(pid());
      return now.length === 2 && !now.includes(victim) && now;
    }, 'the killed one to be started again');
    expect(again).toContain(other);
    await eventually(async () => {
      const { bytes } = await grid.anonymous.get('/metrics');
      const all = String(bytes).match(/^process_start_time_seconds\{/gm) ?? [];
      return all.length === 3;
    }, 'all three to count');
  });

  it('end with the first one, when it is killed and when it is stopped', async () => {
    const before = servingOf(pid());
    await grid.server.kill();
    await eventually(
      () => Promise.resolve(before.every((pid) => commandOf(pid) === '')),
      'their end',
    );
    grid = await grid.again();
    const after = servingOf(pid());
    expect(after).toHaveLength(2);
    const [status] = await onNewConnections(
      1,
      async (client) => (await client.get('/jobs')).status,
    );
    expect(status).toBe(200);
    await grid.server.stop();
    expect(after.map(commandOf)).toEqual(['', '']);
  });
});
