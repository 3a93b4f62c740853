import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { Delegations } from '#src/auth/index.js';
import { Audit } from '#src/audit/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { LOGGER, Scheduler, type Logger, type TaskOutcome } from '#src/runtime/index.js';
import { wantsToken } from '../manifest/job-token.js';
import { idRanges } from '../state/job.js';
import { MINOR } from '../state/job-state.js';
import type { RunOrder } from './executor.js';
import { JobTokensRepository, type TokenRun } from './job-tokens.repository.js';
import { RunFault } from './run-plan.js';

const LOOK_MS = 1_000;
const BATCH = 500;

type Claims = Awaited<ReturnType<Delegations['mint']>>['claims'];

/** A token for a job. */
export interface JobToken {
  token: string;
  expiresInSeconds: number;
}

/**
 * The tokens of running jobs: a run is given one after the other, and with its end all are revoked. What a
 * run ends by is not always told by who has it: every instance looks for runs that nobody has any more.
 */
@Injectable()
export class JobTokens implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly repository: JobTokensRepository,
    private readonly delegations: Delegations,
    private readonly database: Database,
    private readonly scheduler: Scheduler,
    private readonly audit: Audit,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return;
    this.scheduler.add({ name: 'jobs.tokens', everyMs: LOOK_MS, run: () => this.endOthers() });
  }

  /**
   * A token for a run that is held; undefined for a job that was submitted without. Throws RunFault when its submitter
   * has no right to it any more, Problem 503 while the database is away.
   */
  async give(order: RunOrder): Promise<JobToken | undefined> {
    if (!wantsToken(order.manifest)) return undefined;
    const right = await this.repository.begin(order);
    if (!right) return undefined; // an older release has stored it, for which the key meant nothing
    const run = { jid: order.jid, attempt: order.attempt, tokenRight: right.id };
    try {
      const given = await this.delegations.mint(right.delegation, idOf(run));
      this.auditGiven(given.claims, run);
      return given;
    } catch (cause) {
      if (!(cause instanceof OAuthProblem)) throw cause;
      const app = 'Its submitter has no right to its token any more';
      throw new RunFault(MINOR.initialization, app, { cause });
    }
  }

  /** Revokes what a run was given. Never throws: what cannot be done now is done by `endOthers`. */
  async end(order: RunOrder): Promise<void> {
    if (!wantsToken(order.manifest)) return;
    try {
      const run = await this.database.transaction(async (transaction) => {
        const run = await this.repository.end(transaction, order);
        await this.revoke(run ? [run] : [], transaction);
        return run;
      });
      if (run) this.auditRevoked([run]);
    } catch (error) {
      const jid = String(order.jid);
      this.logger.warn({ err: error, jid }, 'the token of a job is not revoked yet');
    }
  }

  private async endOthers(): Promise<TaskOutcome> {
    const runs = await this.database.transaction(async (transaction) => {
      const over = await this.repository.endOthers(transaction, BATCH);
      await this.revoke(over, transaction);
      return over;
    });
    this.auditRevoked(runs);
    return runs.length === BATCH ? 'more' : undefined;
  }

  private async revoke(runs: readonly TokenRun[], transaction: Transaction): Promise<void> {
    for (const run of runs) await this.delegations.revoke(idOf(run), transaction);
  }

  private auditGiven(
    { jti: tokenId, scope, preferred_username: user, group, setup, client_id: client }: Claims,
    { jid }: TokenRun,
  ): void {
    const actor = { ...(user !== undefined && { user }), group, setup, client };
    const details = { grantType: 'job', tokenId, scope, jids: idRanges([jid]) };
    this.audit.done('token.issued', details, { actor });
  }

  private auditRevoked(runs: readonly TokenRun[]): void {
    if (runs.length === 0) return;
    const jids = idRanges(runs.map(({ jid }) => jid));
    this.audit.done('token.revoked', { kind: 'job', jids });
  }
}

/** What all tokens of a run have in common. */
function idOf({ tokenRight, jid, attempt }: TokenRun): string {
  return `${tokenRight}-${jid}-${attempt}`;
}
