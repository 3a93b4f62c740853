import { submitUntilAcknowledged } from '../jobs.js';
import { eventually, type GridClient, HAS_WORKERS } from '../testbed.js';
import type { Dice } from './dice.js';
import type { FaultSite, Lost } from './fault-site.js';
import {
  freeze,
  hasBegun,
  hasEnded,
  markedProcesses,
  runningJobs,
  shownProcess,
  signal,
  type JobProcesses,
} from './job-processes.js';

/** What may happen to the site, and how often. */
const FAULTS = [
  ['instance', 5],
  ['postgres', 3],
  ['payload', 5],
  ['supervisor', 4],
  ['both', 3],
  ['cancel', 3],
] as const;

export type Fault = (typeof FAULTS)[number][0];

/** How long an instance stays away, in milliseconds. */
export const OUTAGES = {
  /** Shorter than a lease of 5 s. */
  short: [0, 1_500],
  /** Longer than a lease: its jobs stall, and go on when it is back. */
  stalling: [7_000, 9_000],
  /** Longer than three leases: its jobs are given up. */
  losing: [18_000, 20_000],
} as const;

/** How long each kind of outage lasts at least, with a lease of 5 s; the third allows for a beat that was missed. */
const OUTAGES_LAST: Record<Outage, number> = { short: 0, stalling: 5_000, losing: 13_500 };

export type Outage = keyof typeof OUTAGES;

/** What a round asks for. */
export interface RoundOptions {
  name: string;
  jobs: number;
  /** Longest time that a job sleeps before and after its line, milliseconds. */
  jobMs: number;
  /** Longest pause between two faults, milliseconds. */
  pauseMs: number;
  outages: readonly (readonly [Outage, number])[];
  /** How often an instance and PostgreSQL are killed at most: a site that never gets up again shows nothing. */
  most: { instance: number; postgres: number };
  /** How long jobs may take to end after the last submit. */
  patienceMs: number;
}

/** What was done in a round; `killed` and `cancelled` are facts, not attempts. */
export interface RoundRecord {
  jids: number[];
  faults: Record<Fault, number>;
  outages: Record<Outage, number>;
  killed: Map<number, Exclude<Fault, 'instance' | 'postgres' | 'cancel'>>;
  /** What was seen of the processes when they were killed. */
  notes: Map<number, object>;
  cancelled: Set<number>;
  /** Kills whose answer was lost: the job may be Killed. */
  maybeCancelled: Set<number>;
}

const SUBMITTERS = 4;
const FINAL = `('Done', 'Failed', 'Killed', 'Deleted')`;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** One round: jobs are submitted and run while instances, PostgreSQL and processes of jobs are killed. */
export class FaultRound {
  readonly record: RoundRecord = {
    jids: [],
    faults: { instance: 0, postgres: 0, payload: 0, supervisor: 0, both: 0, cancel: 0 },
    outages: { short: 0, stalling: 0, losing: 0 },
    killed: new Map(),
    notes: new Map(),
    cancelled: new Set(),
    maybeCancelled: new Set(),
  };
  private isOver = false;
  private wanted = 0;
  private outage: Promise<void> = Promise.resolve();
  private readonly executors: ReadonlySet<string>;

  constructor(
    private readonly site: FaultSite,
    private readonly dice: Dice,
    private readonly options: RoundOptions,
  ) {
    this.executors = site.executors();
  }

  /** Runs the round to its end: all jobs final, both instances up. */
  async run(): Promise<RoundRecord> {
    const faults = this.inflict();
    const submits = Array.from({ length: SUBMITTERS }, (_, index) => this.submitSome(index));
    try {
      await Promise.all(submits);
      await this.until((left) => left <= this.options.jobs / 10, 'most jobs to end');
    } finally {
      this.isOver = true;
      await faults;
      await this.outage;
    }
    await this.until((left) => left === 0, 'all jobs to end');
    await eventually(
      () => Promise.resolve(markedProcesses(this.executors).length === 0),
      'the end of every process of a job',
    );
    return this.record;
  }

  private async until(enough: (left: number) => boolean, what: string): Promise<void> {
    const { patienceMs } = this.options;
    const isThere = async (): Promise<boolean> => enough(await this.unfinished());
    await eventually(isThere, what, patienceMs).catch(async (error: unknown) => {
      const rows = await this.site.sql<object>(
        `select jid, status, minor_status, executor, attempt, last_update, heart_beat from jobs
          where job_group = $1 and status not in ${FINAL}`,
        [this.options.name],
      );
      throw new Error(`${(error as Error).message}: ${JSON.stringify(rows)}\n${this.site.logs()}`);
    });
  }

  private async unfinished(): Promise<number> {
    const text = `select count(*)::int as n from jobs where job_group = $1 and status not in ${FINAL}`;
    const rows = await this.site.sql<{ n: number }>(text, [this.options.name]).catch(() => []);
    return rows[0]?.n ?? Infinity;
  }

  // -- submits --------------------------------------------------------------------------------------------------

  private async submitSome(submitter: number): Promise<void> {
    const { jobs, name } = this.options;
    for (let turn = 0; this.wanted < jobs; turn += 1) {
      const count = Math.min(this.dice.between(1, 8), jobs - this.wanted);
      this.wanted += count;
      const manifests = Array.from({ length: count }, () => this.manifest());
      this.record.jids.push(...(await this.submit(manifests, `${name}-${submitter}-${turn}`)));
      await pause(this.dice.between(0, 80));
    }
  }

  private manifest(): object {
    const seconds = (): string => (this.dice.between(0, this.options.jobMs) / 1000).toFixed(3);
    const name = `${this.site.leftName}$JOBID`;
    const script = [
      `sleep ${seconds()}; echo $JOBID >> ${this.site.lines}`,
      // What a careless program leaves: files where everybody may write, a directory, a process that goes on.
      `: >/tmp/${name}; : >/dev/shm/${name}; mkdir -p deep/er; : >deep/er/file; chmod 0 deep/er`,
      'setsid sleep 600 & echo $JOBID',
      `sleep ${seconds()}`,
    ].join('\n');
    return {
      Executable: '/bin/sh',
      Arguments: ['-c', script],
      JobGroup: this.options.name,
      OutputSandbox: ['std.out'],
    };
  }

  private async submit(manifests: object[], key: string): Promise<number[]> {
    let wish = this.dice.between(0, 1);
    const next = (): GridClient => this.site.client((wish = 1 - wish));
    return submitUntilAcknowledged(next, manifests, `${this.dice.seed}-${key}`);
  }

  // -- faults ---------------------------------------------------------------------------------------------------

  private async inflict(): Promise<void> {
    while (!this.isOver) {
      await pause(this.dice.between(50, this.options.pauseMs));
      const fault = this.dice.weighted(FAULTS);
      if (!this.isOver && (await this.strike(fault))) this.record.faults[fault] += 1;
    }
  }

  /** True when it happened. */
  private async strike(fault: Fault): Promise<boolean> {
    if (fault === 'instance') return this.loseInstance();
    if (fault === 'cancel') return this.cancel();
    if (fault === 'postgres') return this.killPostgres();
    return this.killProcesses(fault);
  }

  /** Only when it answers: killed again and again while it recovers it never would. */
  private async killPostgres(): Promise<boolean> {
    if (this.record.faults.postgres >= this.options.most.postgres) return false;
    const isUp = await this.site.sql('select').then(
      () => true,
      () => false,
    );
    if (isUp) this.site.postgres.kill();
    return isUp;
  }

  /** One instance at a time: the issue asks for the death of one of two. */
  private loseInstance(): boolean {
    if (this.site.isDown(0) || this.site.isDown(1)) return false;
    if (this.record.faults.instance >= this.options.most.instance) return false;
    const outage = this.dice.weighted(this.options.outages);
    const [least, most] = OUTAGES[outage];
    const milliseconds = this.dice.between(least, most);
    const index = this.dice.between(0, 1);
    const lost = HAS_WORKERS ? this.dice.pick<Lost>(['both', 'service', 'worker']) : 'both';
    this.outage = this.site.loseInstance(index, milliseconds, lost).then((away) => {
      // A start takes a while, longer when PostgreSQL is killed in its middle.
      const kinds = Object.keys(OUTAGES) as Outage[];
      const lasted = kinds.filter((kind) => away >= OUTAGES_LAST[kind]).at(-1) ?? outage;
      this.record.outages[lasted] += 1;
    });
    this.outage.catch(() => undefined); // awaited at the end of the round
    return true;
  }

  private async killProcesses(fault: 'payload' | 'supervisor' | 'both'): Promise<boolean> {
    const jobs = runningJobs(this.executors).filter(({ jid }) => !this.record.killed.has(jid));
    const job = this.dice.pick(jobs.filter(hasBegun));
    if (!job) return false;
    const targets = { payload: ['payload'], supervisor: ['wrapper'], both: ['wrapper', 'payload'] };
    const pids = targets[fault].map((target) => job[target as keyof JobProcesses]);
    const was = pids.map(shownProcess);
    const frozen = await Promise.all(pids.map(freeze));
    // Only what stands still before its end was noted has certainly been killed in the middle.
    const isFact = frozen.every(Boolean) && hasBegun(job) && !hasEnded(job);
    for (const pid of pids) signal(pid, isFact ? 'SIGKILL' : 'SIGCONT');
    if (isFact) {
      this.record.killed.set(job.jid, fault);
      this.record.notes.set(job.jid, { at: new Date().toISOString(), fault, ...job, was });
    }
    return isFact;
  }

  private async cancel(): Promise<boolean> {
    const jid = this.dice.pick(this.record.jids.slice(-40));
    if (jid === undefined) return false;
    const answer = await this.site
      .client(this.dice.between(0, 1))
      .delete(`/jobs/${jid}`)
      .catch(() => undefined);
    if (answer?.status === 200) this.record.cancelled.add(jid);
    else if (answer?.status !== 409) this.record.maybeCancelled.add(jid);
    return answer?.status === 200;
  }
}
