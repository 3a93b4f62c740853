import { sleep } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { unpackArchive } from '../../sandbox/sandbox-archive.js';
import { SandboxDamagedError, SandboxMissingError } from '../../sandbox/sandbox.store.js';
import { MINOR } from '../../state/job-state.js';
import { catalogueInputs, RunFault, SITE_PATH } from '../../run/run-plan.js';
import type { RunOrder } from '../../run/executor.js';
import { inputsOf, writeInputData } from '../../run/input-data.js';
import type { BatchAccount } from './batch-accounts.js';
import { isSameShape, pathOf, shapeOf, wallSecondsOf, type BatchShape } from './batch-shape.js';
import { isOfBatch } from './controller-view.js';
import { batchScript, wrapperScript } from './payload-wrapper.js';
import type { SlurmJob } from './slurm-api.js';
import { SlurmError } from './slurm-error.js';
import { apiOf, byAnswers, forEachOf, MAX_FAILED, type OpenSlurmParts } from './slurm-parts.js';
import { programOf, variablesOf } from './slurm-program.js';
import type { StoredBatch } from './run-directory.js';
import type { SlurmRun } from './slurm-run.js';

/** Jobs that are claimed one after the other still go into one array. */
const GATHER_MS = 30;
const STAGING_AT_ONCE = 8;
const SPARE_MINUTES = 2;

/** What the submitter asks and tells. */
export interface SubmitterEvents {
  /** The run cannot be submitted, ever. */
  refused(run: SlurmRun, fault: RunFault): Promise<void>;
  /** The run was stopped while it was staged: nothing of it is with Slurm. */
  stopped(run: SlurmRun): Promise<void>;
  /** Those runs of a batch that are still wanted. */
  runsOf(batch: StoredBatch): SlurmRun[];
}

/**
 * Brings runs to Slurm: stages each in the shared directory, puts those of an account that ask for the same into one
 * array, and submits the array in one call, in the name of the account. The list of the array is written first, so that a submit of which nobody knows
 * whether it has arrived is found again by its comment, or done again; a task that comes twice does not start twice.
 */
export class SlurmSubmitter {
  private queue: SlurmRun[] = [];
  private unsure: StoredBatch[] = [];
  private late: SlurmRun[] = [];
  private working: Promise<void> | undefined;
  private settling: Promise<void> | undefined;
  private isClosed = false;
  /** Accounts that Slurm takes for themselves. */
  private readonly known = new Set<string>();

  constructor(
    private readonly parts: OpenSlurmParts,
    private readonly events: SubmitterEvents,
  ) {}

  /** Takes runs; returns at once. */
  add(runs: readonly SlurmRun[]): void {
    this.queue.push(...runs);
    if (!this.isClosed) this.working ??= this.work();
  }

  /** Takes a run back that is not on its way yet; false when it is. */
  withdraw(run: SlurmRun): boolean {
    for (const list of [this.queue, this.late]) {
      const index = list.indexOf(run);
      if (index < 0) continue;
      list.splice(index, 1);
      return true;
    }
    return false;
  }

  /** A batch of an earlier process of which only the list is there; each of its runs may tell of it. */
  adopt(batch: StoredBatch): void {
    if (!this.unsure.includes(batch)) this.unsure.push(batch);
  }

  /** Finds out whether unsure submits have arrived, and submits again those that have not. */
  async settle(): Promise<void> {
    this.takeLate();
    if (this.unsure.length === 0 || this.isClosed) return;
    this.settling ??= this.settleOnce().finally(() => (this.settling = undefined));
    await this.settling;
  }

  private async settleOnce(): Promise<void> {
    const before = byAnswers(this.unsure, (batch) => apiOf(this.parts, batch));
    const tables = await this.tablesFor(before);
    const isKnown = (batch: StoredBatch): boolean =>
      tables.has(apiOf(this.parts, batch).user) || findBatch(tables.values(), batch) !== undefined;
    const settled = before.filter(isKnown);
    this.unsure = this.unsure.filter((batch) => !settled.includes(batch));
    for (const batch of settled) {
      const found = findBatch(tables.values(), batch);
      if (found !== undefined) await this.note(batch, found);
      else if (this.events.runsOf(batch).length > 0) await this.submit(batch);
      else await this.parts.directory.removeBatch(batch.id);
    }
  }

  /**
   * What the controller knows, in the name of each account of which a batch has not been found yet. An account that
   * Slurm does not let speak delays only its own; that nobody is answered is thrown.
   */
  private async tablesFor(batches: readonly StoredBatch[]): Promise<Map<string, SlurmJob[]>> {
    const tables = new Map<string, SlurmJob[]>();
    const failed = new Map<string, SlurmError>();
    for (const batch of batches) {
      const api = apiOf(this.parts, batch);
      if (tables.has(api.user) || failed.has(api.user)) continue;
      if (findBatch(tables.values(), batch) !== undefined) continue;
      try {
        tables.set(api.user, await api.jobs());
      } catch (error) {
        if (!(error instanceof SlurmError)) throw error;
        failed.set(api.user, error);
        if (failed.size >= MAX_FAILED) break;
      }
    }
    const [first] = failed.values();
    if (first !== undefined && tables.size === 0) throw first;
    for (const [account, error] of failed) {
      this.parts.logger.warn({ err: error, account }, 'Slurm does not answer an account');
    }
    return tables;
  }

  /** Takes no more; answers the runs that have not been staged. */
  async close(): Promise<SlurmRun[]> {
    this.isClosed = true;
    await this.working;
    return [...this.queue.splice(0), ...this.late.splice(0)];
  }

  private async work(): Promise<void> {
    try {
      await sleep(GATHER_MS);
      while (this.queue.length > 0 && !this.isClosed) await this.submitSome();
    } catch (error) {
      this.parts.logger.error({ err: error }, 'runs cannot be submitted');
    } finally {
      this.working = undefined;
    }
  }

  /** Takes the first run and all that may share an array with it: those of its account that ask for the same. */
  private async submitSome(): Promise<void> {
    await this.findAccounts();
    const taken: SlurmRun[] = [];
    const left: SlurmRun[] = [];
    const shapes = new Map<SlurmRun, BatchShape>();
    for (const run of this.queue) {
      const site = await this.parts.siteOf(run.order.site);
      shapes.set(run, shapeOf(run.order, site, this.parts.config));
    }
    const [first] = this.queue;
    const shape = first && shapes.get(first);
    const account = first?.account;
    if (shape === undefined || account === undefined) return;
    for (const run of this.queue) {
      const own = shapes.get(run);
      const fits = own !== undefined && isSameShape(own, shape) && run.account?.uid === account.uid;
      if (fits && taken.length < this.parts.config.slurmBatch) taken.push(run);
      else left.push(run);
    }
    this.queue = left;
    await this.submitRuns(taken, { shape, account });
  }

  /** Finds the accounts of the runs that have none yet. A run that can have none is refused. */
  private async findAccounts(): Promise<void> {
    const fresh = this.queue.filter(({ account }) => account === undefined);
    await forEachOf(fresh, STAGING_AT_ONCE, async (run) => {
      try {
        run.account = await this.parts.accounts.of(run.order);
      } catch (error) {
        // Stopped while it was looked for: whoever stopped it has taken it out.
        if (!this.withdraw(run)) return;
        if (error instanceof RunFault) await this.events.refused(run, error);
        else this.tryLater(run, error);
      }
    });
    // Those that came meanwhile wait for the next round at the end.
    const known = this.queue.filter(({ account }) => account !== undefined);
    this.queue = [...known, ...this.queue.filter(({ account }) => account === undefined)];
  }

  private async submitRuns(
    runs: readonly SlurmRun[],
    { shape, account }: { shape: BatchShape; account: BatchAccount },
  ): Promise<void> {
    const staged = new Set<SlurmRun>();
    await forEachOf(runs, STAGING_AT_ONCE, async (run) => {
      try {
        await this.stage(run, account);
        staged.add(run);
      } catch (error) {
        if (error instanceof RunFault) await this.events.refused(run, error);
        else this.tryLater(run, error);
      }
    });
    for (const run of staged) if (run.isStopped) await this.events.stopped(run);
    const ready = runs.filter((run) => staged.has(run) && !run.isStopped);
    const [first] = ready;
    if (first === undefined) return;
    const { jid, attempt } = first.order;
    const keys = ready.map((run) => run.key);
    const batch: StoredBatch = {
      id: first.key,
      // The last part tells services apart that share an account of the cluster.
      comment: `grid:${jid}:${attempt}:${this.parts.directory.mark}`,
      shape,
      keys,
      account,
    };
    await this.parts.directory.writeBatch(batch);
    for (const run of ready) run.batch = batch;
    await this.submit(batch);
  }

  /** The sandbox store or the shared directory is away: no fault of the job. */
  private tryLater(run: SlurmRun, error: unknown): void {
    this.parts.logger.warn(
      { err: error, jid: String(run.order.jid) },
      'a run cannot be staged yet',
    );
    this.late.push(run);
  }

  /** Takes up what could not be staged. */
  private takeLate(): void {
    const runs = this.late.splice(0).filter((run) => !run.isStopped);
    if (runs.length > 0) this.add(runs);
  }

  private async submit(batch: StoredBatch): Promise<void> {
    const { directory, config, logger } = this.parts;
    try {
      const id = await apiOf(this.parts, batch).submit({
        name: batch.keys.length > 1 ? 'gridgate' : `gridgate-${batch.id}`,
        comment: batch.comment,
        script: batchScript(directory.nodeRoot, directory.nodeBatchPath(batch.id)),
        directory: directory.nodeRoot,
        tasks: batch.keys.length,
        timeLimitMinutes: minutesOf(batch.shape, config),
        environment: { PATH: SITE_PATH },
        ...batch.shape,
      });
      await this.note(batch, id);
    } catch (error) {
      const isFinal = error instanceof SlurmError && ['refused', 'denied'].includes(error.fault);
      if (!isFinal) {
        logger.warn({ err: error, batch: batch.id }, 'nobody knows whether Slurm has the batch');
        this.adopt(batch);
        return;
      }
      await this.refuse(batch, `Slurm refuses it: ${error.message}`);
      return;
    }
    await this.checkAccount(batch);
  }

  /**
   * A name that Slurm cannot look up it takes, without a word, for account 99. Nothing of such a job can run, its wrapper
   * belongs to the right account; but it would be given back and come again. One look for each account is enough.
   */
  private async checkAccount(batch: StoredBatch): Promise<void> {
    const { account, arrayId = 0 } = batch;
    if (account === undefined || this.known.has(account.name)) return;
    const api = apiOf(this.parts, batch);
    try {
      const job = (await api.job(arrayId)).find(({ comment }) => comment === batch.comment);
      if (job === undefined || job.uid < 0) return;
      if (job.uid === account.uid) {
        this.known.add(account.name);
        return;
      }
      const { name, uid } = account;
      const why = 'the cluster lacks the account, or has another number for it';
      await this.refuse(
        batch,
        `Slurm takes ${name} for account ${job.uid}, and here it is ${uid}: ${why}`,
      );
      // In the same name it is the same account that asks.
      await api.cancel(arrayId);
    } catch (error) {
      if (!(error instanceof SlurmError)) throw error;
      this.parts.logger.warn({ err: error, account: account.name }, 'an account is not checked');
    }
  }

  private async refuse(batch: StoredBatch, why: string): Promise<void> {
    await this.parts.directory.removeBatch(batch.id);
    const fault = new RunFault(MINOR.submitting, why);
    for (const run of this.events.runsOf(batch)) await this.events.refused(run, fault);
  }

  private async note(batch: StoredBatch, arrayId: number): Promise<void> {
    batch.arrayId = arrayId;
    await this.parts.directory.noteBatch(batch);
  }

  private async stage(run: SlurmRun, account: BatchAccount): Promise<void> {
    const { directory, config, siteOf, catalogue, accounts } = this.parts;
    const { order, plan } = run;
    if (catalogueInputs(order).length > 0) {
      throw new RunFault(MINOR.inputFilesFailed, 'Files of the catalogue cannot be fetched here');
    }
    const site = await siteOf(order.site);
    const path = pathOf(site, SITE_PATH);
    const wrapper = wrapperScript({
      key: run.key,
      root: directory.nodeRoot,
      uid: account.uid,
      ...programOf(order),
      path,
      arguments: plan.arguments,
      stdOutput: plan.stdout,
      stdError: plan.stderr,
      environment: {
        ...variablesOf(order, { path, user: account.name, work: directory.nodeWorkPath(run.key) }),
        ...plan.environment,
      },
      limits: {
        cpuSeconds: order.cpuTime,
        wallSeconds: wallSecondsOf(order, site, config),
        fileBytes: config.jobOutputBytes,
      },
    });
    const { key } = run;
    await directory.stage({ key, account }, wrapper, async (work) => {
      await this.unpackInput(order, work, account);
      const owner = accounts.givesFiles ? account : undefined;
      const inputs = await inputsOf(order, catalogue);
      await writeInputData(inputs?.text, { directory: work, owner });
    });
  }

  private async unpackInput(order: RunOrder, work: string, account: BatchAccount): Promise<void> {
    if (order.inputSandbox === null) return;
    const { store, config, accounts } = this.parts;
    const owner = accounts.givesFiles ? { owner: account } : {};
    try {
      const source = await store.open(order.inputSandbox);
      await unpackArchive(source, work, { maxBytes: config.maxSandboxBytes, ...owner });
    } catch (cause) {
      const isMissing = cause instanceof SandboxMissingError;
      if (!isMissing && !(cause instanceof SandboxDamagedError)) throw cause;
      const app = isMissing ? 'It is not in the store' : 'It cannot be unpacked';
      throw new RunFault(MINOR.inputSandboxFailed, app, { cause });
    }
  }
}

/** Slurm counts minutes. The payload is ended by its wrapper, which can tell why; Slurm's limit comes after it. */
function minutesOf({ wallSeconds }: BatchShape, config: Config): number {
  return Math.ceil((wallSeconds ?? config.jobWallTime) / 60) + SPARE_MINUTES;
}

function findBatch(tables: Iterable<readonly SlurmJob[]>, batch: StoredBatch): number | undefined {
  for (const jobs of tables) {
    const own = jobs.find((job) => isOfBatch(job, batch));
    if (own !== undefined) return own.arrayId;
  }
  return undefined;
}
