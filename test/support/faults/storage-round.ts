import { submitUntilAcknowledged } from '../jobs.js';
import { adlerOf } from '../storage/keeping-storage.js';
import { eventually } from '../testbed.js';
import type { Dice } from './dice.js';
import { PASSING_FAULTS, REFUSING_FAULTS, type FaultyStorage } from './faulty-storage.js';
import type { StorageSite } from './storage-site.js';

/** What may happen, how often, and how often at most. */
const FAULTS = [
  ['storage', 16, Infinity],
  ['worker', 2, 4],
  ['service', 4, 2],
  ['postgres', 3, 2],
  ['cancel', 1, Infinity],
  ['reschedule', 3, Infinity],
] as const;
type Fault = (typeof FAULTS)[number][0];

const MOST_OUTPUT_BYTES = 300_000;
/** Longer than the service waits for a storage. */
const LATE_MS = [1_000, 8_000] as const;
const STORAGE_MS = [500, 5_000] as const;
const PAUSE_MS = [50, 600] as const;
const AWAY_MS = [0, 2_000] as const;
const SUBMITTED_AT_ONCE = 4;
const FINAL = `('Done', 'Failed', 'Killed', 'Deleted')`;

/** A file that a job writes. */
export interface Written {
  path: string;
  size: number;
  /** Its only line, again and again, begins so. */
  begins: string;
}

/** A job, and what it was to do. */
export interface DrillJob {
  jid: number;
  written: Written[];
  /** A path of it that is taken, or that another job writes, too. */
  contested?: string | undefined;
  isCancelled: boolean;
}

/** What a round asks for. */
export interface StorageRoundOptions {
  name: string;
  jobs: number;
  /** How long things fail at least. */
  faultMs: number;
  patienceMs: number;
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** One round: jobs read and write files of the catalogue while their storages, the service, its worker and its database fail. */
export class StorageRound {
  readonly jobs: DrillJob[] = [];
  /** What happened, with milliseconds since the begin. */
  readonly history: string[] = [];
  private readonly begun = Date.now();
  private readonly counts = new Map<Fault, number>();
  private healing: Promise<void>[] = [];

  constructor(
    private readonly site: StorageSite,
    private readonly dice: Dice,
    private readonly options: StorageRoundOptions,
  ) {}

  /** To its end: everything is well again, and every job has ended. */
  async run(): Promise<void> {
    const { name, patienceMs } = this.options;
    await this.site.register({
      ...{ path: `/vo/out/${name}-taken`, size: 1, replicas: [{ se: 'DRILL-NOWHERE' }] },
    });
    const submits = this.submitAll();
    submits.catch(() => undefined); // awaited below
    await this.inflict();
    await submits;
    this.note('all is well');
    await eventually(async () => (await this.unfinished()) === 0, 'jobs to end', patienceMs).catch(
      async (error: unknown) => {
        const left = await this.site.sql(
          `select jid, status, minor_status, executor, attempt, last_update from jobs
           where job_group = $1 and status not in ${FINAL}`,
          [name],
        );
        const bytes = await this.site.sql('select * from catalogue_bytes');
        throw new Error(
          `${(error as Error).message}: ${JSON.stringify({ left, bytes, history: this.history })}\n${this.site.logs()}`,
        );
      },
    );
    this.note('all jobs have ended');
    await Promise.all(this.site.storages.map((storage) => storage.settled()));
  }

  note(what: string): void {
    this.history.push(`${Date.now() - this.begun} ${what}`);
  }

  private async unfinished(): Promise<number> {
    const [row] = await this.site.sql<{ n: number }>(
      `select count(*)::integer as n from jobs where job_group = $1 and status not in ${FINAL}`,
      [this.options.name],
    );
    return row?.n ?? Infinity;
  }

  // -- jobs -----------------------------------------------------------------------------------------------------

  private async submitAll(): Promise<void> {
    const { jobs, name, faultMs } = this.options;
    const rest = (faultMs * SUBMITTED_AT_ONCE) / (jobs + 1);
    for (let from = 0; from < jobs; from += SUBMITTED_AT_ONCE) {
      const count = Math.min(SUBMITTED_AT_ONCE, jobs - from);
      const made = Array.from({ length: count }, (_, index) => this.makeJob(from + index));
      const jids = await submitUntilAcknowledged(
        () => this.site.alice(),
        made.map(({ manifest }) => manifest),
        `${this.dice.seed}-${name}-${from}`,
      );
      for (const [index, jid] of jids.entries()) {
        const { written, contested } = made[index] ?? { written: [] };
        const whole = written.map((one) => ({
          ...one,
          path: one.path.replace('<home>', `/vo/user/a/alice/${String(jid).padStart(12, '0')}`),
          begins: `${jid}.${one.begins}`,
        }));
        this.jobs.push({ jid, written: whole, contested, isCancelled: false });
      }
      await pause(rest);
    }
  }

  private makeJob(number: number): {
    manifest: object;
    written: Written[];
    contested?: string | undefined;
  } {
    const { dice, site } = this;
    const { name } = this.options;
    const names = [...site.inputs.keys()];
    const first = dice.between(0, names.length - 1);
    const read = names.filter((_, index) => index === first || index === first + 1);
    const sums = read.map((one) => adlerOf(site.inputs.get(one) ?? Buffer.alloc(0)));
    const written: Written[] = [];
    const OutputData: (string | object)[] = [];
    const script = [
      // The Adler-32 of what came, as the storages count it.
      `python3 -c 'import sys, zlib; sys.exit([format(zlib.adler32(open(n, "rb").read()), "08x") for n in sys.argv[1::2]] != sys.argv[2::2])' ${read.map((one, index) => `${one} ${sums[index]}`).join(' ')} || exit 9`,
      `attempt=\${GRIDGATE_RUN##*.}; sleep ${(dice.between(0, 800) / 1000).toFixed(3)}`,
    ];
    let contested: string | undefined;
    const files = dice.between(1, 3);
    for (let index = 0; index < files; index += 1) {
      const size = dice.weighted([
        [0, 1],
        [dice.between(1, 1_000), 2],
        [dice.between(1_000, MOST_OUTPUT_BYTES), 5],
      ]);
      script.push(`yes "$JOBID.${index}.$attempt" | head -c ${size} > o${index}`);
      const place = dice.weighted([
        ['home', 6],
        ['named', 4],
        ['contested', contested === undefined && index === files - 1 ? 2 : 0],
      ]);
      let path = `<home>/o${index}`;
      if (place === 'named') path = `/vo/out/${name}/${number}/f${index}`;
      if (place === 'contested') {
        path = dice.weighted([
          [`/vo/out/${name}-taken`, 1],
          [`/vo/out/${name}-common-${Math.floor(number / 6)}`, 3],
        ]);
        contested = path;
      }
      OutputData.push(place === 'home' ? `o${index}` : { name: `o${index}`, path });
      written.push({ path, size, begins: `${index}.` });
    }
    const OutputSE = dice.pick([
      ['DRILL-A', 'DRILL-B', 'DRILL-C'],
      ['DRILL-B', 'DRILL-A', 'DRILL-C'],
      ['DRILL-A', 'DRILL-C', 'DRILL-B'],
      ['DRILL-C', 'DRILL-B', 'DRILL-A'],
    ]);
    const manifest = {
      ...{ Executable: '/bin/sh', Arguments: ['-c', script.join('\n')], JobGroup: name },
      ...{ InputData: read.map((one) => `/vo/in/${one}`), OutputData, OutputSE },
    };
    return { manifest, written, contested };
  }

  // -- faults ---------------------------------------------------------------------------------------------------

  private async inflict(): Promise<void> {
    const end = this.begun + this.options.faultMs;
    while (Date.now() < end) {
      await pause(this.dice.between(...PAUSE_MS));
      const may = FAULTS.filter(([fault, , most]) => (this.counts.get(fault) ?? 0) < most);
      const fault = this.dice.weighted(may.map(([name, weight]) => [name, weight] as const));
      if (await this.strike(fault)) this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    }
    await Promise.all(this.healing);
  }

  /** True when it happened. */
  private async strike(fault: Fault): Promise<boolean> {
    const { site, dice } = this;
    if (fault === 'storage') return this.disturb(dice.pick(site.storages));
    if (fault === 'cancel') return this.cancel();
    if (fault === 'reschedule') return this.reschedule();
    this.note(fault);
    if (fault === 'worker') await site.killWorker();
    else if (fault === 'postgres') site.killPostgres();
    else {
      const isSpared = dice.next() < 0.6;
      this.note(isSpared ? 'its worker goes on' : 'and its worker');
      await site.killService(isSpared, dice.between(...AWAY_MS));
      this.note('service is back');
    }
    return true;
  }

  private disturb(storage: FaultyStorage | undefined): boolean {
    const { dice } = this;
    const isLast = storage === this.site.storages.at(-1);
    const kinds = isLast ? PASSING_FAULTS : [...PASSING_FAULTS, ...REFUSING_FAULTS];
    const fault = dice.pick<(typeof kinds)[number]>(kinds);
    const milliseconds = dice.between(...STORAGE_MS);
    const lateMs = dice.between(...LATE_MS);
    if (!storage || !fault || storage.has !== undefined) return false;
    storage.begin(fault, lateMs);
    this.note(
      `${storage.name} ${fault} for ${milliseconds}${fault === 'hangs' ? `, ${lateMs} late` : ''}`,
    );
    this.healing.push(pause(milliseconds).then(() => storage.heal()));
    return true;
  }

  private async cancel(): Promise<boolean> {
    const job = this.dice.pick(this.jobs.slice(-8));
    if (!job) return false;
    job.isCancelled = true; // also where the answer is lost
    const answer = await this.site
      .alice()
      .delete(`/jobs/${job.jid}`)
      .catch(() => undefined);
    this.note(`job ${job.jid} is killed: ${answer?.status}`);
    if (answer && answer.status >= 400 && answer.status < 500) job.isCancelled = false;
    return answer?.status === 200;
  }

  /** A job that has failed runs again, and finds what its first attempt has left. */
  private async reschedule(): Promise<boolean> {
    const failed = await this.site.sql<{ jid: number | string }>(
      `select jid from jobs where job_group = $1 and status = 'Failed' order by jid`,
      [this.options.name],
    );
    const jid = Number(this.dice.pick(failed)?.jid ?? 0);
    if (jid === 0) return false;
    const answer = await this.site
      .alice()
      .post(`/jobs/${jid}/reschedule`)
      .catch(() => undefined);
    this.note(`job ${jid} is rescheduled: ${answer?.status}`);
    return answer?.status === 200;
  }
}
