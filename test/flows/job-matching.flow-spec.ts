import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../support/ports.mjs';
import { awaitFinal, awaitStatus, pastOf, sandboxOf, show, submit } from '../support/jobs.js';
import {
  eventually,
  HAS_WORKERS,
  startGrid,
  type Grid,
  type GridClient,
} from '../support/testbed.js';

const MACHINE = availableParallelism();
const REGISTRY = `sites:
  LOCAL.machine: { backend: local-process }
  LOCAL.three: { backend: local-process, processors: 3, ramMB: 3000, gpus: 64 }
  LOCAL.slots: { backend: local-process, slots: 1 }
  LOCAL.short: { backend: local-process, processors: 4, maxWallTime: 60, tags: [el9] }
`;

describe('jobs and the sites that can hold them', () => {
  let grid: Grid;
  let second: Grid;
  let alice: GridClient;
  let outside: string;
  let files = 0;
  beforeAll(async () => {
    outside = mkdtempSync(join(tmpdir(), 'grid-outside-'));
    chmodSync(outside, 0o711);
    writeFileSync(join(outside, 'registry.yaml'), REGISTRY);
    const env = {
      GRID_REGISTRY: join(outside, 'registry.yaml'),
      GRID_REGISTRY_SYNC: 'true',
      GRID_SANDBOX_STORE: join(outside, 'sandboxes'),
      GRID_LOCAL_SLOTS: '8',
      GRID_LOCAL_BINDS: `${outside}:rw`,
      GRID_RESERVE_AFTER: '2',
    };
    grid = await startGrid({ env });
    const [port = 0] = await freePorts(1);
    second = await grid.second({ GRID_PUBLIC_URL: grid.url, GRID_PORT: String(port) });
    alice = await grid.as('alice');
  });
  afterAll(async () => {
    await second?.remove();
    await grid?.remove();
    await rm(outside, { recursive: true, force: true });
  });

  const log = (text = ''): string => {
    const path = join(outside, `log-${(files += 1)}`);
    writeFileSync(path, text);
    chmodSync(path, 0o666);
    return path;
  };

  const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);

  const sh = (site: string, script: string, more: object = {}) => ({
    Sites: [site],
    Executable: '/bin/sh',
    Arguments: ['-c', script],
    ...more,
  });

  /** A job that notes its begin and end, and how much it counts. */
  const noted = (site: string, path: string, more: object = {}, weight = 1) =>
    sh(site, `echo ${weight} >>${path}; sleep 0.3; echo -${weight} >>${path}`, more);

  /** A job that runs until the file has text. */
  const until = (site: string, path: string, more: object = {}) =>
    sh(site, `while [ ! -s ${path} ]; do sleep 0.1; done`, more);

  /** The most that ran at once. */
  const peakOf = (path: string): number => {
    let [now, peak] = [0, 0];
    for (const line of linesOf(path)) peak = Math.max(peak, (now += Number(line)));
    return peak;
  };

  it('counts the processors of a site over all instances', async () => {
    const path = log();
    const manifests = [
      ...Array.from({ length: 8 }, () => noted('LOCAL.three', path)),
      ...Array.from({ length: 4 }, () => noted('LOCAL.three', path, { NumberOfProcessors: 2 }, 2)),
    ];
    const jobs = await awaitFinal(alice, await submit(alice, manifests));
    expect(new Set(jobs.map(({ status, site }) => `${status} ${site}`))).toEqual(
      new Set(['Done LOCAL.three']),
    );
    expect(peakOf(path)).toBe(3);
  });

  it.each([
    ['memory', 'LOCAL.three', { MaxRAM: 1500 }, 2],
    ['memory that is needed at least', 'LOCAL.three', { MinRAM: 3000 }, 1],
    ['jobs', 'LOCAL.slots', {}, 1],
  ])('counts %s of a site', async (_what, site, wants, most) => {
    const path = log();
    const manifests = Array.from({ length: 4 }, () => noted(site, path, wants));
    await awaitFinal(alice, await submit(alice, manifests));
    expect([linesOf(path).length, peakOf(path)]).toEqual([8, most]);
  });

  it('starts no job with GPUs where the site declares more of them than the machine has, and says so', async () => {
    const [jid = 0] = await submit(alice, [sh('LOCAL.three', 'true', { GPUs: 64 })]);
    const [plain = 0] = await submit(alice, [sh('LOCAL.three', 'true')]);
    await awaitStatus(alice, plain, ['Done']);
    const sentence = HAS_WORKERS
      ? /^None of its workers can hold the job: one has \d+ GPUs$/
      : /^It declares 64 GPUs and its machine has \d+: no job that asks for GPUs starts there$/;
    await eventually(async () => {
      const { body } = await alice.get(`/jobs/${jid}/explain`);
      return sentence.test(String(body.sites['LOCAL.three']));
    }, 'the sentence');
    expect(await show(alice, jid)).toMatchObject({ status: 'Waiting' });
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
  });

  it('gives each job its own processors, and says how many', async () => {
    const path = log();
    const wanted = Math.min(2, MACHINE);
    const script = `echo $GRIDGATE_PROCESSORS $(nproc); while [ ! -s ${path} ]; do sleep 0.1; done; grep Cpus_allowed_list /proc/self/status`;
    const pair = await submit(alice, [
      sh('LOCAL.machine', script),
      sh('LOCAL.machine', script, { NumberOfProcessors: wanted }),
    ]);
    const [one = 0, two = 0] = pair;
    await awaitStatus(alice, one, ['Running']);
    await awaitStatus(alice, two, ['Running']);
    writeFileSync(path, 'go\n');
    await awaitFinal(alice, pair);
    const first = (await sandboxOf(alice, one))['std.out'];
    expect(first).toMatch(/^1 1\nCpus_allowed_list:\t\d+\n$/);
    expect((await sandboxOf(alice, two))['std.out']).toMatch(new RegExp(`^${wanted} ${wanted}\\n`));
  });

  it('says of jobs that fit nowhere why they wait, until a site can hold them', async () => {
    const [jid = 0, late = 0] = await submit(alice, [
      sh('LOCAL.short', 'true', { Tags: ['GPU', 'el9'] }),
      sh('LOCAL.later', 'true'),
    ]);
    const minorStatus = 'No candidate sites available';
    const waits = async (id: number) =>
      eventually(async () => {
        const job = await show(alice, id);
        return job.minorStatus === minorStatus && job;
      }, 'the reason');
    expect(await waits(jid)).toMatchObject({
      status: 'Waiting',
      appStatus: 'LOCAL.short: It does not have GPU',
    });
    expect(await waits(late)).toMatchObject({
      status: 'Waiting',
      appStatus:
        'There is none of the sites that it may run on for its setup and virtual organisation',
    });
    const { body } = await alice.get(`/jobs/${jid}/explain`);
    expect(body.sites['LOCAL.short']).toBe('It cannot hold the job: It does not have GPU');
    await grid.sql(
      `update registry_site set tags = array['el9', 'GPU'] where name = 'LOCAL.short'`,
    );
    expect(await awaitStatus(alice, jid, ['Done'])).toMatchObject({
      site: 'LOCAL.short',
      minorStatus: 'Execution Complete',
      appStatus: 'Unknown',
    });
    expect(await show(alice, late)).toMatchObject({ status: 'Waiting', minorStatus });
    expect((await alice.delete(`/jobs/${late}`)).status).toBe(200);
    expect(await pastOf(alice, late)).toEqual([
      ...['Received', 'Checking', 'Waiting', 'Waiting', 'Killed'],
    ]);
  });

  it('waits for ever where jobs may not run for so long', async () => {
    const [jid = 0, fits = 0] = await submit(alice, [
      sh('LOCAL.short', 'true', { WallTime: 61 }),
      sh('LOCAL.short', 'true', { WallTime: 60 }),
    ]);
    await awaitStatus(alice, fits, ['Done']);
    await eventually(
      async () => (await show(alice, jid)).appStatus === 'LOCAL.short: Jobs may run for 60 s there',
      'the reason',
    );
    expect((await alice.delete(`/jobs/${jid}`)).status).toBe(200);
  });

  it('lets a stream of small jobs not starve a large one', async () => {
    const path = log();
    const [stop, ended] = [log(), log()];
    const small = Array.from({ length: 60 }, () =>
      sh('LOCAL.three', `[ -s ${stop} ] || sleep 0.4; echo small >>${ended}`),
    );
    const first = await submit(alice, small.slice(0, 3));
    await awaitStatus(alice, first[0] ?? 0, ['Running', 'Done']);
    const [large = 0] = await submit(alice, [
      sh('LOCAL.three', `echo large >>${ended}; echo x >${path}`, { NumberOfProcessors: 3 }),
    ]);
    const rest = await submit(alice, small.slice(3));
    await awaitStatus(alice, large, ['Running', 'Done']);
    writeFileSync(stop, 'stop\n');
    await awaitFinal(alice, [...first, large, ...rest]);
    const order = linesOf(ended);
    const place = order.indexOf('large');
    // It had its turn long before the last of those behind it.
    expect([place >= 0, place < 45]).toEqual([true, true]);
  });

  it('keeps that room also for an owner who has thousands of kinds of jobs', async () => {
    const [path, ended] = [log(), log()];
    const [blocker = 0] = await submit(alice, [until('LOCAL.slots', path)]);
    await awaitStatus(alice, blocker, ['Running']);
    const kinds = await submit(
      alice,
      Array.from({ length: 3_000 }, (_, n) => sh('LOCAL.slots', 'true', { WallTime: 100 + n })),
    );
    const bob = await grid.as('bob');
    const small = sh('LOCAL.three', `sleep 0.2; echo small >>${ended}`);
    const stream = await submit(bob, Array<object>(200).fill(small));
    const [large = 0] = await submit(alice, [
      sh('LOCAL.three', `echo large >>${ended}`, { NumberOfProcessors: 3 }),
    ]);
    await awaitFinal(alice, [large]);
    expect(linesOf(ended).indexOf('large')).toBeLessThan(150);
    await grid.sql(`update jobs set held_by = 'owner' where jid = any ($1::bigint[])`, [kinds]);
    await bob.delete(`/jobs/${stream[0]}`);
    writeFileSync(path, 'x');
    await awaitFinal(bob, stream);
  });

  it('counts what runs again after kill -9, and gives nobody the processors of a run', async () => {
    const go = log();
    await second.stop();
    const held = await submit(alice, [
      until('LOCAL.three', go, { NumberOfProcessors: 2 }),
      until('LOCAL.three', go),
    ]);
    for (const jid of held) await awaitStatus(alice, jid, ['Running']);
    await grid.kill();
    grid = await grid.again();
    alice = await grid.as('alice');
    const path = log();
    const waiting = await submit(alice, [noted('LOCAL.three', path), noted('LOCAL.short', path)]);
    await awaitStatus(alice, waiting[1] ?? 0, ['Done']);
    expect(await show(alice, waiting[0] ?? 0)).toMatchObject({ status: 'Waiting' });
    writeFileSync(go, 'go\n');
    const jobs = await awaitFinal(alice, [...held, ...waiting]);
    expect(jobs.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'Done'));
    const used = await grid.sql('select count(*)::int as n from jobs where executor is not null');
    expect(used).toEqual([{ n: 0 }]);
  });
});
