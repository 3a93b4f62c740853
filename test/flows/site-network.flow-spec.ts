import { createServer, type Server } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { awaitFinal, sandboxOf, submit } from '../support/jobs.js';
import { eventually, startGrid, type Grid } from '../support/testbed.js';

const SITES = `sites:
  LOCAL.open: { backend: local-process, network: host }
  LOCAL.closed: { backend: local-process }
`;

let home: string;
let registry: string;
let listener: Server;
let port: number;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'grid-network-'));
  registry = join(home, 'registry.yaml');
  await writeFile(registry, SITES);
  listener = createServer((socket) => socket.end('reached\n'));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
});

afterAll(async () => {
  await new Promise((resolve) => listener.close(resolve));
  await rm(home, { recursive: true, force: true });
});

describe('the network of local jobs', () => {
  let grid: Grid;

  beforeAll(async () => {
    grid = await startGrid({ env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' } });
  });
  afterAll(() => grid?.remove());

  it("is the machine's at a site that says network: host, and nobody's at any other", async () => {
    const alice = await grid.as('alice');
    const script = `if (exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>/dev/null; then :; else echo refused; fi`;
    const job = { Executable: '/bin/bash', Arguments: ['-c', script] };
    const jids = await submit(alice, [
      { ...job, Sites: ['LOCAL.open'] },
      { ...job, Sites: ['LOCAL.closed'] },
    ]);
    const jobs = await awaitFinal(alice, jids);
    expect(jobs.map(({ status, site }) => [status, site])).toEqual([
      ['Done', 'LOCAL.open'],
      ['Done', 'LOCAL.closed'],
    ]);
    const [open, closed] = await Promise.all(jids.map((jid) => sandboxOf(alice, jid)));
    expect(open).toEqual({ 'std.out': 'reached\n', 'std.err': '' });
    expect(closed).toEqual({ 'std.out': 'refused\n', 'std.err': '' });
  });

  it('is not given where a proxy is believed from whose address the jobs could speak', async () => {
    const env = {
      GRID_TRUSTED_PROXIES: '127.0.0.1',
      GRID_REGISTRY: registry,
      GRID_REGISTRY_SYNC: 'true',
    };
    await expect(grid.second(env)).rejects.toThrow(
      "site LOCAL.open: its jobs have the machine's network (network: host), and GRID_TRUSTED_PROXIES believes 127.0.0.1",
    );
  });
});

describe('a machine on which jobs cannot be kept apart', () => {
  let grid: Grid;

  beforeAll(async () => {
    // Root of a user namespace with one account: it can neither give jobs namespaces nor accounts of their own.
    const through = ['unshare', '--user', '--map-root-user'];
    grid = await startGrid({
      env: { GRID_REGISTRY: registry, GRID_REGISTRY_SYNC: 'true' },
      through,
    });
  });
  afterAll(() => grid?.remove());

  it('starts, says why no local job runs, and runs none', async () => {
    expect((await grid.anonymous.get('/health/ready')).status).toBe(200);
    expect(grid.server.log()).toContain('local jobs cannot be isolated here');
    const alice = await grid.as('alice');
    const [jid = 0] = await submit(alice, [{ Executable: '/bin/true', Sites: ['LOCAL.closed'] }]);
    const told = await eventually(async () => {
      const { body } = await alice.get(`/jobs/${jid}/explain`);
      return body.status === 'Waiting' ? body : undefined;
    }, 'the job to be checked');
    expect(told).toEqual({
      jid,
      status: 'Waiting',
      place: 1,
      share: expect.objectContaining({ group: 'grid_user', weight: 1 }),
      waitsFor: expect.stringMatching(/^A site that can run it/),
      sites: {
        'LOCAL.open': 'It is not among the Sites of the job',
        'LOCAL.closed': 'No local-process executor is running',
      },
    });
  });
});
