import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CLOCK, type Clock } from '#src/kernel/index.js';
import { Audit, type AuditOrigin } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed, Database } from '#src/database/index.js';
import { Scheduler } from '#src/runtime/index.js';
import { SiteSecretsRepository } from './site-secrets.repository.js';
import { pauseOf } from './worker-pauses.js';
import { executorOf, isOwn, noSuchWorker, WORKERS_CHANNEL, workerLeaseSeconds } from './worker.js';
import type { SiteWorker, WorkerFacts } from './worker.entity.js';
import { WorkersRepository, type WorkerSearch } from './workers.repository.js';

const DAY_MS = 86_400_000;
/** For how long those that are gone are shown. */
const SHOWN_MS = DAY_MS;
/** After how long a silence a worker is taken for gone; it comes back with its secret. */
const SILENCE_MS = 30 * DAY_MS;
const CLEAN_EVERY_MS = 600_000;

/** A worker as administrators see it. */
export interface WorkerReport extends WorkerFacts {
  id: string;
  site: string;
  name: string;
  version: string;
  protocol: number;
  /** `silent`: nothing was heard of it for a lease; `draining`: it is given no runs. */
  state: 'active' | 'silent' | 'draining' | 'gone';
  /** Id of the secret that it has shown last. */
  secret: string;
  registeredAt: string;
  seenAt: string;
  drainingAt?: string;
  removedAt?: string;
  /** Why it gets no runs now, or fewer than it would take. */
  fault?: string;
}

/** Which workers there are, as administrators look after them. */
@Injectable()
export class WorkersService implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'jobLease'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly workers: WorkersRepository,
    private readonly secrets: SiteSecretsRepository,
    private readonly audit: Audit,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.add({
      name: 'jobs.workers that are gone',
      everyMs: CLEAN_EVERY_MS,
      jitter: 0.5,
      lock: 'workers',
      run: async ({ transaction }) => {
        const now = this.clock.now();
        const goneBefore = new Date(now - SHOWN_MS);
        const silentSince = new Date(now - SILENCE_MS);
        await this.workers.clean(transaction, { silentSince, goneBefore, now: new Date(now) });
        await this.secrets.clean(transaction, goneBefore);
      },
    });
  }

  /** Those that are there and those that went within the last day, by id. */
  async list(search: Omit<WorkerSearch, 'goneAfter'>): Promise<WorkerReport[]> {
    const now = this.clock.now();
    const found = await this.workers.list({ ...search, goneAfter: new Date(now - SHOWN_MS) });
    return this.reports(found);
  }

  /** It is given no runs from now on; what it runs goes on. Throws Problem 404 when it is gone. */
  async drain(id: string, origin?: AuditOrigin): Promise<WorkerReport> {
    const { site, name } = await this.find(id);
    if (!(await this.workers.drain(id, new Date(this.clock.now())))) throw noSuchWorker(id);
    await this.database.execute(ChangeFeed.notification(WORKERS_CHANNEL, id));
    this.audit.done('worker.drained', { worker: id, site, name }, origin);
    const [report] = await this.reports([await this.find(id)]);
    if (!report) throw noSuchWorker(id);
    return report;
  }

  /**
   * It is gone from now on, and does not come back with a secret that was for it alone. Throws Problem 404 when it is gone
   * already.
   */
  async remove(id: string, origin?: AuditOrigin): Promise<void> {
    const { site, jkt, name } = await this.find(id);
    const now = new Date(this.clock.now());
    const isDone = await this.database.transaction(async (transaction) => {
      await transaction.execute(ChangeFeed.notification(WORKERS_CHANNEL, id));
      await this.secrets.revokeOwn(transaction, { site, jkt }, now);
      return this.workers.remove(transaction, id, now);
    });
    if (!isDone) throw noSuchWorker(id);
    const way = origin ? 'request' : 'command';
    this.audit.done('worker.removed', { worker: id, site, name, way }, origin);
  }

  private async reports(workers: readonly SiteWorker[]): Promise<WorkerReport[]> {
    const now = new Date(this.clock.now());
    const silentSince = new Date(now.getTime() - workerLeaseSeconds(this.config) * 1000);
    const faults = await this.workers.faults(workers.map(executorOf));
    return workers.map((worker) => {
      const fault = faults.get(executorOf(worker)) ?? pauseOf(worker, now);
      return { ...reportOf(worker, silentSince), ...(fault !== undefined && { fault }) };
    });
  }

  /** The service's own worker is part of the service. */
  private async find(id: string): Promise<SiteWorker> {
    const worker = await this.workers.find(id);
    if (!worker || isOwn(worker)) throw noSuchWorker(id);
    return worker as SiteWorker;
  }
}

function reportOf(worker: SiteWorker, silentSince: Date): WorkerReport {
  const { id, site, name, version, protocol, facts, secretId, drainingAt, removedAt } = worker;
  return {
    ...{ id, site, name, version, protocol, state: stateOf(worker, silentSince), ...facts },
    secret: secretId,
    registeredAt: worker.createdAt.toISOString(),
    seenAt: worker.seenAt.toISOString(),
    ...(drainingAt && { drainingAt: drainingAt.toISOString() }),
    ...(removedAt && { removedAt: removedAt.toISOString() }),
  };
}

function stateOf(
  { removedAt, drainingAt, seenAt }: SiteWorker,
  silentSince: Date,
): WorkerReport['state'] {
  if (removedAt) return 'gone';
  if (seenAt < silentSince) return 'silent';
  return drainingAt ? 'draining' : 'active';
}
