import { readFileSync } from 'node:fs';
import { connect, type TLSSocket } from 'node:tls';
import { BalancedGrid } from '../support/balanced-grid.js';
import { submit } from '../support/jobs.js';
import type { Balancer } from '../support/load-balancers.js';
import { describeWith, has } from '../support/missing.js';
import { addSiteSecret, addWorkerSite, SITE } from '../support/test-worker.js';
import { eventually, type GridClient } from '../support/testbed.js';
import { WorkerCrowd } from '../support/worker-crowd.js';

const BALANCERS: Balancer[] = ['nginx', 'haproxy'];
const WORKERS = 1_000;
/** What the service promises of a kill. */
const TOLD_WITHIN_MS = 5_000;
const IDLE_WORKERS = 200;
/** Of 25 s each. */
const IDLE_CLAIMS = 2;
/** Requests of one address that the load balancers let through at once, but for those of workers. */
const MOST_REQUESTS = 1_000;
const FLOOD = 1_400;

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Seconds of processor time that a process has used. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const need = { met: BALANCERS.every(has), name: BALANCERS.join(' and ') };

describeWith(need)(`${WORKERS} workers of one address`, () => {
  let site: BalancedGrid;
  let crowd: WorkerCrowd;
  let token: string;
  let jids: number[] = [];

  beforeAll(async () => {
    // Strangers of a flood are to be held by the instances, so that it is the load balancer that refuses the others.
    const env = { GRID_ROLE: 'api', GRID_LOG_LEVEL: 'warn', GRID_CALLER_CONCURRENCY: '64' };
    site = await BalancedGrid.start('nginx', 'terminate', env, { ownProcess: true });
    await addWorkerSite(site.grid, SITE);
    const { secret } = await addSiteSecret(site.grid, SITE, { reusable: true });
    crowd = new WorkerCrowd({ url: site.grid.url, ca: site.grid.ca, secret });
    token = await site.grid.token('alice', 'grid_user');
  });
  afterAll(async () => {
    await crowd?.end();
    await site?.remove();
  });

  /** Alice at the first instance, past the load balancer. */
  async function withAlice<T>(work: (alice: GridClient) => Promise<T>): Promise<T> {
    const alice = site.at(site.instances[0], token);
    try {
      return await work(alice);
    } finally {
      await alice.close();
    }
  }

  /** Processor time of both instances. */
  const used = (): number =>
    site.instances.reduce((sum, { grid }) => sum + processorSeconds(grid.server.child.pid ?? 0), 0);

  async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
    const begun = performance.now();
    const [service, here] = [used(), processorSeconds(process.pid)];
    await work();
    const seconds = [
      (performance.now() - begun) / 1000,
      used() - service,
      processorSeconds(process.pid) - here,
    ].map((one) => one.toFixed(1));
    say(`${what}: ${seconds[0]} s (processors: service ${seconds[1]} s, crowd ${seconds[2]} s)`);
  }

  /** Waits until a claim of each is open at the service. */
  async function allOpen(): Promise<void> {
    await eventually(async () => {
      if (crowd.open.size < crowd.size) return false;
      const rows = await site.grid.sql<{ id: string; seq: string }>('select id, seq from worker');
      const { open } = crowd;
      return rows.filter(({ id, seq }) => open.get(id) === Number(seq)).length === crowd.size;
    }, 'a claim of each to be open').catch((cause: unknown) => {
      const seen = `${crowd.open.size} claims: ${JSON.stringify(crowd.record.faults)}`;
      throw new Error(seen, { cause });
    });
  }

  async function jobForEach(): Promise<void> {
    const job = { Executable: '/bin/true', Site: SITE };
    jids = await withAlice((alice) => submit(alice, Array(WORKERS).fill(job)));
    await eventually(() => Promise.resolve(crowd.running.length === WORKERS), 'each to run a job');
  }

  /** Workers come back as they were: nothing is lost, and nothing begins again. */
  async function expectBack(what: string): Promise<void> {
    await timed(what, allOpen);
    expect(new Set(crowd.running)).toEqual(new Set(jids.map((jid) => `${jid}.1`)));
  }

  async function changeTo(balancer: Balancer): Promise<void> {
    await site.balanceBy(balancer);
    crowd.record.forgive();
    await expectBack(`all back, through ${balancer} now`);
    expect(crowd.record.faults).toEqual({});
  }

  async function killAll(balancer: Balancer): Promise<void> {
    const { stops, starts, holders, forgotten } = crowd.record;
    const killed = performance.now();
    const query = { jid: jids.map(String) };
    const { body } = await withAlice((alice) => alice.delete('/jobs', { query }));
    const answeredMs = performance.now() - killed;
    expect(Object.values(body.results)).toEqual(jids.map(() => ({ status: 200 })));
    const told = (): number[] => jids.flatMap((jid) => stops.get(`${jid}.1`) ?? []);
    await eventually(() => Promise.resolve(told().length === WORKERS), 'each to be told');
    const worstMs = Math.max(...told()) - killed;
    const [answered, worst] = [answeredMs, worstMs].map((ms) => (ms / 1000).toFixed(2));
    say(`${balancer}: kill of ${WORKERS} answered after ${answered} s, last told after ${worst} s`);
    expect(worstMs).toBeLessThan(TOLD_WITHIN_MS);
    await timed(`${balancer}: all ends written`, () =>
      eventually(async () => {
        const [row] = await site.grid.sql<{ left: number }>(
          `select count(*)::integer as left from jobs where status <> 'Killed' or executor is not null`,
        );
        return row?.left === 0;
      }, 'every end to be written'),
    );
    expect([...starts.values()].filter((count) => count > 1)).toEqual([]);
    expect([...holders.values()].filter(({ size }) => size > 1)).toEqual([]);
    expect(forgotten).toEqual([]);
    expect(crowd.record.faults).toEqual({});
  }

  async function expectFloodRefused(balancer: Balancer): Promise<void> {
    const flood = new Flood(site.balancer.port, site.grid.ca);
    try {
      await eventually(
        () => Promise.resolve(flood.answers.length >= FLOOD - MOST_REQUESTS),
        'most of a flood to be refused',
      );
      const refused = flood.answers.filter((answer) => answer.startsWith('HTTP/1.1 429'));
      const byProxy = refused.filter((answer) => !/x-request-id/i.test(answer));
      say(`${balancer}: of ${FLOOD} slow requests ${byProxy.length} are refused`);
      expect(byProxy.length).toBeGreaterThan(0);
      expect(byProxy[0]).toContain('"code":"rate.limited"');
    } finally {
      await flood.end();
    }
    await allOpen();
    expect(crowd.record.faults).toEqual({});
  }

  it(`cost little while they have nothing to do, ${IDLE_WORKERS} of them`, async () => {
    crowd.growTo(IDLE_WORKERS);
    await timed(`${IDLE_WORKERS} registered`, allOpen);
    const { leastAnswered } = crowd;
    const [begun, before] = [performance.now(), used()];
    await eventually(
      () => Promise.resolve(crowd.leastAnswered >= leastAnswered + IDLE_CLAIMS),
      'the claims to be answered',
      120_000,
    );
    const seconds = (performance.now() - begun) / 1000;
    const percent = ((used() - before) / seconds) * 100;
    say(`${IDLE_WORKERS} idle for ${seconds.toFixed(0)} s: ${percent.toFixed(1)} % of a processor`);
    expect(crowd.record.faults).toEqual({});
  });

  it('have a claim open each, and none is refused', async () => {
    crowd.growTo(WORKERS);
    await timed(`${WORKERS} claims open`, allOpen);
    expect(crowd.record.faults).toEqual({});
  });

  it('get a job each', async () => {
    await timed('nginx: a job for each', jobForEach);
    expect(crowd.record.faults).toEqual({});
  });

  it('see nothing of it when an instance is started again', async () => {
    await site.instances[0].grid.stop();
    await site.restartFirst();
    await expectBack('all back after an instance was started again');
    expect(crowd.record.faults).toEqual({});
  });

  it('come back when the load balancer is another one', () => changeTo('haproxy'));

  it('are told within 5 s that their jobs are killed, through HAProxy', () => killAll('haproxy'));

  it('are none of a flood of their address that HAProxy refuses', () =>
    expectFloodRefused('haproxy'));

  it('get another job each through HAProxy', async () => {
    await timed('haproxy: a job for each', jobForEach);
    expect(crowd.record.faults).toEqual({});
  });

  it('come back when an instance was killed', async () => {
    await site.instances[0].grid.kill();
    await site.restartFirst();
    await expectBack('all back after an instance was killed');
    say(JSON.stringify(crowd.record.faults));
  });

  it('come back through nginx', () => changeTo('nginx'));

  it('are told within 5 s that their jobs are killed, through nginx', () => killAll('nginx'));

  it('are none of a flood of their address that nginx refuses', () => expectFloodRefused('nginx'));
});

/** Strangers without a token who send bodies that do not end. */
class Flood {
  /** The first bytes of each answer. */
  readonly answers: string[] = [];
  private readonly sockets: TLSSocket[];

  constructor(port: number, ca: string) {
    this.sockets = Array.from({ length: FLOOD }, () => {
      const socket = connect({ host: 'localhost', port, ca }, () => {
        socket.write(
          'POST /oauth2/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n' +
            'Content-Type: application/x-www-form-urlencoded\r\n\r\n',
        );
      });
      socket.once('data', (data) => this.answers.push(String(data)));
      socket.on('error', () => undefined);
      return socket;
    });
  }

  async end(): Promise<void> {
    await Promise.all(
      this.sockets.map(
        (socket) =>
          new Promise((resolve) => {
            if (socket.closed) resolve(undefined);
            socket.once('close', resolve);
            socket.destroy();
          }),
      ),
    );
  }
}
