import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { encoded } from '../tenants/place.js';
import { eventually, support, type Grid, type GridClient, type Identity } from '../testbed.js';

/** The proxy that the flooded server trusts: what comes from it may speak of certificates. */
export const PROXY = '127.0.0.9';
/** Collects garbage whole at SIGUSR2, so that what is left is what is held. */
const COLLECTING = `process.on('SIGUSR2', () => globalThis.gc());`;
const COLLECTIONS = 3;
/** So many looks in a row, 50 ms apart, without a lower figure. */
const SETTLED_LOOKS = 20;
const PROCESSES = 2;
const PEOPLE = 4;
const MIB = 2 ** 20;

/** Options of Node with which the server can be told to collect its garbage. */
export const COLLECTABLE = [
  '--expose-gc',
  '--import',
  `data:text/javascript,${encodeURIComponent(COLLECTING)}`,
];

/** What hostile clients were answered; a status of `none` is a connection that ended without an answer. */
export interface FloodReport {
  requests: number;
  statuses: Record<string, number>;
  faults: string[];
}

/** What ordinary callers saw: how long each kind of request took, milliseconds, sorted, and what was not 200. */
export interface CallerReport {
  times: Record<string, number[]>;
  faults: string[];
}

/** Memory of the server after its garbage is gone, MiB. */
export interface Memory {
  resident: number;
  heap: number;
  external: number;
}

/** Hostile clients and ordinary callers of one server, each in processes of their own. */
export class Flood {
  private constructor(
    private readonly grid: Grid,
    /** One client, whose connection is the only one of ours. */
    private readonly anonymous: GridClient,
    private readonly flooders: ChildProcess[],
    private readonly callers: ChildProcess,
    private readonly order: Record<string, unknown>,
    private readonly person: Record<string, unknown>,
  ) {}

  /** `largeBytes`: length of the bodies that may be larger than others. */
  static async prepare(grid: Grid, largeBytes: number): Promise<Flood> {
    const names: Identity[] = ['alice', 'bob', 'fred'];
    const clients = await Promise.all(names.map((name) => grid.as(name)));
    const tokens = Object.fromEntries(names.map((name, index) => [name, clients[index]?.token]));
    const submit = async (name: Identity): Promise<number> => {
      const client = await grid.as(name);
      const { body } = await client.post('/jobs', { json: { Executable: '/bin/true' } });
      return (body as { jids: number[] }).jids[0] ?? 0;
    };
    const known = {
      jid: String(await submit('alice')),
      directory: encoded('/vo'),
      file: encoded('/vo/a/f1'),
      name: 'in.txt',
      provider: 'none',
    };
    const { ca, url } = grid;
    const order = {
      server: { port: Number(new URL(url).port), ca },
      proxy: PROXY,
      tokens,
      known,
      largeBytes,
    };
    const jid = await submit('carol');
    const person = { url, ca, jid, people: PEOPLE, ...(await grid.pair('carol')) };
    const flooders = Array.from({ length: PROCESSES }, () => start('flooder.mjs'));
    const { anonymous } = grid;
    return new Flood(grid, anonymous, flooders, start('callers.mjs'), order, person);
  }

  /** Every kind of hostile request once. */
  warmUp(clients: number): Promise<FloodReport> {
    return this.flood({ clients, isOneRound: true });
  }

  /** Every kind once, one after the other. */
  oneByOne(): Promise<FloodReport> {
    const [process] = this.flooders;
    return ask(process!, { ...this.order, clients: 1, first: 0, allClients: 1, isOneByOne: true });
  }

  /** Hostile requests of every kind to every operation, for so long. */
  async flood(options: {
    clients: number;
    seconds?: number;
    isOneRound?: boolean;
  }): Promise<FloodReport> {
    const clients = Math.ceil(options.clients / PROCESSES);
    const reports = await Promise.all(
      this.flooders.map((process, index) =>
        ask<FloodReport>(process, {
          ...this.order,
          ...options,
          clients,
          first: index * clients,
          allClients: clients * PROCESSES,
        }),
      ),
    );
    const statuses: Record<string, number> = {};
    for (const [status, count] of reports.flatMap((one) => Object.entries(one.statuses))) {
      statuses[status] = (statuses[status] ?? 0) + count;
    }
    const requests = reports.reduce((sum, one) => sum + one.requests, 0);
    return { requests, statuses, faults: reports.flatMap(({ faults }) => faults) };
  }

  /** Ordinary callers for so long. */
  async callersFor(seconds: number): Promise<CallerReport> {
    const report = await ask<CallerReport>(this.callers, { ...this.person, seconds });
    for (const times of Object.values(report.times)) times.sort((a, b) => a - b);
    return report;
  }

  /** The server's memory when it has answered everything and its garbage is gone. */
  async memory(): Promise<Memory> {
    const { server } = this.grid;
    await eventually(
      async () => (await this.metric('gridgate_connections')) <= 5,
      'all hostile connections to end',
      90_000,
    );
    for (let index = 0; index < COLLECTIONS; index += 1) {
      const before = await this.metric('nodejs_gc_duration_seconds_count{kind="major"}');
      server.child.kill('SIGUSR2');
      await eventually(
        async () => (await this.metric('nodejs_gc_duration_seconds_count{kind="major"}')) > before,
        'the garbage to be collected',
        30_000,
      );
    }
    await this.untilSettled();
    const [resident = 0, heap = 0, external = 0] = await Promise.all(
      [
        'process_resident_memory_bytes',
        'nodejs_heap_size_used_bytes',
        'nodejs_external_memory_bytes',
      ].map((name) => this.metric(name)),
    );
    return { resident: resident / MIB, heap: heap / MIB, external: external / MIB };
  }

  async end(): Promise<void> {
    const all = [...this.flooders, this.callers];
    await Promise.all(
      all.map(async (process) => {
        const exited = once(process, 'exit');
        if (process.exitCode === null && process.kill()) await exited;
      }),
    );
  }

  /** Freed pages are given back by a thread of V8's own: resident memory is that which falls no further. */
  private async untilSettled(): Promise<void> {
    let lowest = Infinity;
    let looks = 0;
    await eventually(
      async () => {
        const resident = await this.metric('process_resident_memory_bytes');
        looks = resident < lowest ? 0 : looks + 1;
        lowest = Math.min(lowest, resident);
        return looks >= SETTLED_LOOKS;
      },
      'resident memory to fall no further',
      60_000,
    );
  }

  private async metric(name: string): Promise<number> {
    return valueOf(await this.metrics(), name);
  }

  private async metrics(): Promise<string> {
    return (await this.anonymous.get<string>('/metrics')).body;
  }
}

/** Throws when the metric is not there. */
function valueOf(metrics: string, name: string): number {
  const line = metrics.split('\n').find((one) => one.startsWith(`${name} `));
  if (line === undefined) throw new Error(`no ${name} in: ${metrics.slice(0, 200)}`);
  return Number(line.split(' ').at(-1));
}

/** The time within which so many of a hundred were answered, milliseconds. */
export function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? NaN;
}

function start(file: string): ChildProcess {
  return fork(join(support().root, 'test/support/flood', file), { execArgv: [] });
}

function ask<T>(process: ChildProcess, order: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error('a process of the flood ended'));
    process.once('exit', onExit);
    process.once('message', (report) => {
      process.off('exit', onExit);
      resolve(report as T);
    });
    process.send(order);
  });
}
