import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Problem, type Clock, CLOCK } from '#src/kernel/index.js';
import type { Principal } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { ChangeFeed, Database, withAdvisoryLock, type Transaction } from '#src/database/index.js';
import { Scheduler, type TaskOutcome } from '#src/runtime/index.js';
import { JobPolicy } from '../access/job.policy.js';
import { WORK_CHANNEL } from '../state/admission.js';
import type { Job } from '../state/job.entity.js';
import { isFinal, MINOR, TO_START } from '../state/job-state.js';
import type { Jid } from '../state/job.js';
import { JobsRepository } from '../state/jobs.repository.js';
import { DependenciesRepository, type News } from './dependencies.repository.js';
import type { PlacedViolation, RequestLinks } from './request-links.js';

const LOOK_MS = 500;
const NEWS = 50;
const SHOWN = 20;
const BATCH = 500;
/**
 * Conditions that one look judges: however many jobs wait for one, a look takes a second or less. Each owner of waiting jobs has
 * the same part of them, and each news of theirs the same part of that.
 */
const MOST_JUDGED = 2_000;
/** Jobs of a request that are looked up at once. */
const LOOKED_UP = 5_000;

/**
 * Jobs that wait for jobs. A trigger writes news in the transaction that ends a job which others wait for; one instance at
 * a time reads it and releases or fails those that waited, in one transaction: nothing is lost when an instance dies.
 */
@Injectable()
export class Dependencies implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly scheduler: Scheduler,
    private readonly database: Database,
    private readonly jobs: JobsRepository,
    private readonly policy: JobPolicy,
    private readonly repository: DependenciesRepository,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    const run = (): Promise<TaskOutcome> => this.look();
    this.scheduler.add({
      name: 'jobs.dependencies',
      firstMs: 0,
      everyMs: LOOK_MS,
      retryMs: 1_000,
      run,
    });
  }

  /** What is wrong with the links of a request of the caller; a job that they may not see is like none. */
  async faultsOf(principal: Principal, links: RequestLinks): Promise<PlacedViolation[]> {
    const { targets } = links;
    const visible = new Set<string>();
    for (let start = 0; start < targets.length; start += LOOKED_UP) {
      const found = await this.repository.owned(
        this.database,
        targets.slice(start, start + LOOKED_UP),
      );
      for (const job of found) {
        if (this.policy.mayRead(principal, job)) visible.add(String(job.jid));
      }
    }
    return links.faultsWith(visible);
  }

  /** To be called before the jobs are made: their targets stay as they are until the transaction is over. */
  async begin(transaction: Transaction, links: RequestLinks): Promise<void> {
    const { targets } = links;
    if (targets.length === 0) return;
    const found = await this.repository.keepStill(transaction, targets);
    const gone = targets.find((jid) => !found.has(String(jid)));
    if (gone !== undefined) throw Problem.invalidField('After', `there is no job ${gone}`);
  }

  /** Writes the conditions of the jobs that were made. */
  async add(
    transaction: Transaction,
    links: RequestLinks,
    jobs: { jids: readonly Jid[]; owner: string },
  ): Promise<void> {
    await this.repository.add(transaction, links.links(), jobs);
  }

  /** In one sentence, which jobs a job waits for, as far as the caller may see them; undefined when for none. */
  async waitsFor(principal: Principal, job: Job): Promise<string | undefined> {
    if (job.heldBy !== 'jobs' || isFinal(job.status)) return undefined;
    const open = await this.repository.open(this.database, job.jid, SHOWN);
    const found = await this.jobs.findAll(open.map(({ target }) => target));
    const known = new Map(found.map((one) => [String(one.jid), one]));
    const named = open.flatMap(({ target, condition }) => {
      const other = known.get(String(target));
      if (!other || !this.policy.mayRead(principal, other)) return [];
      return [`${target} (${condition}; it is ${other.status})`];
    });
    return named.length === 0 ? 'Other jobs' : `Other jobs: ${named.join(', ')}`;
  }

  /** Deals with news. */
  async look(): Promise<TaskOutcome> {
    const count = await withAdvisoryLock(this.database, 'dependencies', async (transaction) => {
      const news = await this.repository.news(transaction, NEWS);
      if (news.length === 0) return 0;
      const { done, jids } = await this.judge(transaction, news);
      for (let start = 0; start < jids.length; start += BATCH) {
        await this.settle(transaction, jids.slice(start, start + BATCH));
      }
      await this.repository.forget(transaction, done);
      await transaction.query(ChangeFeed.notification(WORK_CHANNEL));
      return news.length;
    });
    return count ? 'more' : undefined;
  }

  /**
   * Judges what the news is about, each as far as its part of a look allows; answers the jobs that may have to be released or
   * failed, and the news that is dealt with. What has to come after the rest of other news is left for a later look.
   */
  private async judge(
    transaction: Transaction,
    news: readonly News[],
  ): Promise<{ done: News[]; jids: Jid[] }> {
    const numbers = new Map<string, number>();
    for (const { owner } of news) numbers.set(owner, (numbers.get(owner) ?? 0) + 1);
    const done: News[] = [];
    const left = new Map<string, Set<string>>();
    const leave = ({ owner, jid }: News): void => {
      left.set(owner, (left.get(owner) ?? new Set()).add(String(jid)));
    };
    const touched = new Map<string, Jid>();
    for (const one of news) {
      if (await this.isTooEarly(transaction, one, left.get(one.owner))) {
        leave(one);
        continue;
      }
      const part = numbers.size * (numbers.get(one.owner) ?? 1);
      const limit = Math.floor(MOST_JUDGED / part);
      const judged = await this.repository.judge(transaction, one, limit);
      for (const jid of judged) touched.set(String(jid), jid);
      if (judged.length < limit) done.push(one);
      else leave(one);
    }
    return { done, jids: [...touched.values()] };
  }

  /** Would it overtake news about the same jobs of which something is `left` to the owner? */
  private async isTooEarly(
    transaction: Transaction,
    { jid, what }: News,
    left: ReadonlySet<string> | undefined,
  ): Promise<boolean> {
    if (!left) return false;
    if (left.has(String(jid))) return true;
    return what === 'again' && (await this.repository.waitsForAny(transaction, jid, [...left]));
  }

  private async settle(transaction: Transaction, jids: readonly Jid[]): Promise<void> {
    const now = new Date(this.clock.now());
    const judged = await this.repository.judged(transaction, jids);
    await this.jobs.move(
      judged
        .filter(({ isImpossible }) => isImpossible)
        .map(({ jid, why }) => ({
          jid,
          steps: [{ to: 'Failed', minor: MINOR.dependencyFailed, ...(why && { app: why }) }],
          from: TO_START,
          source: 'Dependencies',
        })),
      now,
      transaction,
    );
    const met = judged.filter(({ isMet }) => isMet).map(({ jid }) => jid);
    await this.repository.release(transaction, met, now);
  }
}
