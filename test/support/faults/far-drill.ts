import { setTimeout as pause } from 'node:timers/promises';
import { CUTS, type Cut, type FarMachine } from '../far-machine.js';
import { submitUntilAcknowledged } from '../jobs.js';
import { eventually } from '../testbed.js';
import type { Dice } from './dice.js';
import type { FarSite } from './far-site.js';

/** What happens in the rounds, each so often, in an order of chance: twenty of them. */
const DECK = [
  ['cut', 7],
  ['cut of all', 2],
  ['kill -9 of a worker', 4],
  ['kill -9 of the service', 2],
  ['kill -9 of PostgreSQL', 2],
  ['kills of jobs', 3],
] as const;

type Fault = (typeof DECK)[number][0];

const ROUNDS = DECK.reduce((sum, [, count]) => sum + count, 0);

const SHORTEST_CUT_MS = 300;
const KILLS = 3;
const AWAY_MS = 2_000;
/** Every fourth has more output than goes with a report. */
const LARGE = 4;
const LARGE_BYTES = 150_000;
const FINAL = `('Done', 'Failed', 'Killed', 'Deleted')`;

/** How a drill is played. */
export interface DrillOptions {
  jobs: number;
  /** Longest time that a job runs, milliseconds. */
  jobMs: number;
  longestCutMs: number;
  /** Longest pause between two faults, milliseconds. */
  pauseMs: number;
  /** How long jobs may take to end after the last fault. */
  patienceMs: number;
}

/** What was done; `killed` are facts, not attempts. */
export interface DrillRecord {
  /** Job → bytes of its large output; 0 for none. */
  jobs: Map<number, number>;
  cuts: { machine: number; how: Cut; ms: number }[];
  faults: Record<Fault, number>;
  killed: Set<number>;
  /** Kills whose answer was lost: the job may be Killed. */
  maybeKilled: Set<number>;
  /** Workers that were seen with a job that runs. */
  executors: Set<string>;
  /** Until the last fault, and until all jobs had ended. */
  seconds: { faults: number; all: number };
}

/** Jobs are submitted and run by workers of far machines, while these are cut off and workers, service and PostgreSQL are killed. */
export class FarDrill {
  readonly record: DrillRecord = {
    jobs: new Map(),
    cuts: [],
    faults: Object.fromEntries(DECK.map(([fault]) => [fault, 0])) as DrillRecord['faults'],
    killed: new Set(),
    maybeKilled: new Set(),
    executors: new Set(),
    seconds: { faults: 0, all: 0 },
  };
  /** Cut machines, each with the end of its cut. */
  private readonly cut = new Map<FarMachine, Promise<void>>();

  constructor(
    private readonly site: FarSite,
    private readonly dice: Dice,
    private readonly options: DrillOptions,
  ) {}

  /** Plays all rounds to the end: all jobs final, everything up. */
  async run(): Promise<DrillRecord> {
    const from = performance.now();
    const passed = (): number => Math.round((performance.now() - from) / 1000);
    const submits: Promise<void>[] = [];
    for (const [round, fault] of this.shuffled().entries()) {
      submits.push(this.submitSome(round));
      await pause(this.dice.between(0, this.options.pauseMs));
      await this.noteWorkers();
      await this.strike(fault);
      this.record.faults[fault] += 1;
    }
    await Promise.all([...submits, ...this.cut.values()]);
    this.record.seconds.faults = passed();
    await this.whenEnded();
    this.record.seconds.all = passed();
    return this.record;
  }

  private shuffled(): Fault[] {
    const deck = DECK.flatMap(([fault, count]) => Array<Fault>(count).fill(fault));
    return deck
      .map((fault) => ({ fault, at: this.dice.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ fault }) => fault);
  }

  private async noteWorkers(): Promise<void> {
    const text = `select distinct executor from jobs where status = 'Running'`;
    const rows = await this.site.sql<{ executor: string }>(text).catch(() => []);
    for (const { executor } of rows) this.record.executors.add(executor);
  }

  private async submitSome(round: number): Promise<void> {
    const { jobs } = this.options;
    const [from, to] = [round, round + 1].map((part) => Math.floor((part * jobs) / ROUNDS));
    const large = Array.from({ length: (to ?? 0) - (from ?? 0) }, (_, index) => {
      return index % LARGE === 0 ? LARGE_BYTES : 0;
    });
    const manifests = large.map((bytes) => this.manifest(bytes));
    const key = `${this.dice.seed}-far-${round}`;
    const jids = await submitUntilAcknowledged(() => this.site.client(), manifests, key);
    for (const [index, jid] of jids.entries()) this.record.jobs.set(jid, large[index] ?? 0);
  }

  private manifest(bytes: number): object {
    const seconds = (): string => (this.dice.between(0, this.options.jobMs / 2) / 1000).toFixed(3);
    const { lines, leftName, name } = this.site;
    const left = `${leftName}$JOBID`;
    const script = [
      `echo $JOBID >> ${lines}; sleep ${seconds()}`,
      // What a careless program leaves.
      `: >/tmp/${left}; : >/dev/shm/${left}; mkdir -p deep/er; : >deep/er/file; chmod 0 deep/er`,
      'setsid sleep 600 &',
      `head -c ${bytes} /dev/urandom >big; sleep ${seconds()}; echo "end of $JOBID"`,
    ].join('\n');
    const OutputSandbox = bytes > 0 ? ['std.out', 'big'] : ['std.out'];
    return { Executable: '/bin/sh', Arguments: ['-c', script], Site: name, OutputSandbox };
  }

  private async strike(fault: Fault): Promise<void> {
    switch (fault) {
      case 'cut':
        return this.cutSome(1);
      case 'cut of all':
        return this.cutSome(this.site.machines.length);
      case 'kill -9 of a worker': {
        const worker = this.dice.pick(this.site.workers);
        const away = this.dice.between(0, AWAY_MS);
        await worker?.kill();
        await pause(away);
        return worker?.begin();
      }
      case 'kill -9 of the service': {
        const away = this.dice.between(0, AWAY_MS);
        await this.site.grid.kill();
        await pause(away);
        return this.site.startAgain();
      }
      case 'kill -9 of PostgreSQL':
        this.site.postgres.kill();
        return;
      case 'kills of jobs':
        for (let count = 0; count < KILLS; count += 1) await this.killJob();
    }
  }

  /** Cuts off so many machines that are not; when all are, once one is back. */
  private async cutSome(count: number): Promise<void> {
    const { dice, cut, site, record, options } = this;
    const { machines } = site;
    const length = SHORTEST_CUT_MS * (options.longestCutMs / SHORTEST_CUT_MS) ** dice.next();
    if (cut.size === machines.length) await Promise.race(cut.values());
    const open = machines.filter((machine) => !cut.has(machine));
    const first = dice.between(0, open.length - 1);
    const chosen = [...open.slice(first), ...open.slice(0, first)].slice(0, count);
    const ms = Math.round(length);
    for (const machine of chosen) {
      const how = dice.pick(CUTS) ?? 'silent';
      machine.cut(how);
      record.cuts.push({ machine: machines.indexOf(machine), how, ms });
      const end = pause(ms).then(() => {
        machine.mend();
        cut.delete(machine);
      });
      cut.set(machine, end);
    }
  }

  private async killJob(): Promise<void> {
    const { record, dice, site } = this;
    const jid = dice.pick([...record.jobs.keys()].slice(-20));
    if (jid === undefined) return;
    const answer = await site
      .client()
      .delete(`/jobs/${jid}`)
      .catch(() => undefined);
    if (answer?.status === 200) record.killed.add(jid);
    else if (answer?.status !== 409) record.maybeKilled.add(jid);
  }

  private async whenEnded(): Promise<void> {
    const unfinished = `select jid, status, minor_status, executor, attempt from jobs where status not in ${FINAL}`;
    const haveAll = async (): Promise<boolean> => {
      await pause(300);
      const rows = await this.site.sql(unfinished).catch(() => undefined);
      return rows?.length === 0;
    };
    await eventually(haveAll, 'all jobs to end', this.options.patienceMs).catch(
      async (error: unknown) => {
        const rows = JSON.stringify(await this.site.sql(unfinished));
        throw new Error(`${(error as Error).message}: ${rows}\n${this.site.logs()}`);
      },
    );
  }
}
