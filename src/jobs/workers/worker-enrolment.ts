import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, Problem, randomId, type Clock } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { TokenHolders, WorkerTokens } from '#src/auth/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database } from '#src/database/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { SiteSecretEntity } from './site-secret.entity.js';
import { SiteSecrets } from './site-secrets.js';
import type { SiteWorker, WorkerEntity, WorkerFacts } from './worker.entity.js';
import type { RegisterWorkerRequest, WorkerWordsRequest } from './worker.request.js';
import type {
  RegisteredWorkerAnswer,
  WorkerTokenAnswer,
  WorkerWordsAnswer,
} from './worker.response.js';
import { isOwn, noSuchWorker, ownLeaseSeconds, workerLeaseSeconds } from './worker.js';
import { WorkersRepository } from './workers.repository.js';

/** Versions of what workers and the service say to each other that are spoken here. */
const PROTOCOLS: readonly number[] = [1];
/** Workers of a site that are not gone. */
const MOST_AT_A_SITE = 10_000;
/** Who becomes a worker, stays one, and ceases to be one by itself. */
@Injectable()
export class WorkerEnrolment {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'jobLease'>,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly workers: WorkersRepository,
    private readonly secrets: SiteSecrets,
    private readonly holders: TokenHolders,
    private readonly tokens: WorkerTokens,
    private readonly audit: Audit,
  ) {}

  /**
   * Makes the holder of the proven key a worker of the site, or finds the worker that it is. Throws Problem 401 without a good
   * proof, 403 for a secret that is none here, 409 for a site that takes no workers, a full one, and a protocol that is not
   * spoken, 429 after too many wrong secrets.
   */
  async register(
    body: RegisterWorkerRequest,
    request: HttpRequest,
  ): Promise<{ isNew: boolean; answer: RegisteredWorkerAnswer }> {
    const jkt = await this.holders.keyOf(request);
    requireProtocol(body.protocol);
    const { site } = body;
    try {
      const secret = await this.secrets.requireRight(site, body.secret, request);
      const { id, isNew } = await this.keep(body, secret, jkt);
      const { name } = body;
      if (isNew) {
        const details = { worker: id, site, name, secret: secret.id };
        this.audit.done('worker.registered', details, { request });
      }
      const token = await this.tokenFor({ id, jkt });
      return { isNew, answer: { id, ...token } };
    } catch (error) {
      this.audit.refused('worker.registered', { site }, request, error);
      throw error;
    }
  }

  /** A new token for who proves the key of the worker. Throws Problem 401 without a good proof, 404 for any other key and worker. */
  async renew(id: string, request: HttpRequest): Promise<WorkerTokenAnswer> {
    const jkt = await this.holders.keyOf(request);
    const worker = await this.workers.find(id);
    if (worker?.jkt !== jkt) throw noSuchWorker(id);
    await this.workers.noteSeen(id, this.now);
    return this.tokenFor({ id, jkt });
  }

  /** Keeps what a worker says of itself. Throws Problem 409 for a protocol that is not spoken, 404 when it is gone. */
  async keepWords(worker: WorkerEntity, body: WorkerWordsRequest): Promise<WorkerWordsAnswer> {
    const { name, version, protocol, facts = {} } = body;
    requireProtocol(protocol);
    const words = { name, version, protocol, facts: keptFacts(facts, this.clock.now()) };
    const seq = await this.workers.keepWords(worker.id, words, this.now);
    if (seq === undefined) throw noSuchWorker(worker.id);
    const leaseSeconds = isOwn(worker) ? ownLeaseSeconds : workerLeaseSeconds;
    return { lease_seconds: leaseSeconds(this.config), seq };
  }

  /** The worker ends and says so. */
  async leave({ id, site, name }: WorkerEntity, request: HttpRequest): Promise<void> {
    await this.database.transaction((transaction) =>
      this.workers.remove(transaction, id, this.now),
    );
    this.audit.done('worker.removed', { worker: id, site, name, way: 'itself' }, { request });
  }

  private get now(): Date {
    return new Date(this.clock.now());
  }

  private async tokenFor(worker: Pick<SiteWorker, 'id' | 'jkt'>): Promise<WorkerTokenAnswer> {
    const { token, expiresInSeconds } = await this.tokens.mint(worker);
    return {
      ...{ token, expires_in: expiresInSeconds },
      lease_seconds: workerLeaseSeconds(this.config),
    };
  }

  private async keep(
    { site, name, version, protocol, facts = {} }: RegisterWorkerRequest,
    secret: SiteSecretEntity,
    jkt: string,
  ): Promise<{ id: string; isNew: boolean }> {
    const worker = { id: randomId(), site, jkt, secretId: secret.id, name, version, protocol };
    return this.database.transaction(async (transaction) => {
      await this.secrets.use(transaction, secret, jkt);
      const now = this.now;
      const kept = await this.workers.register(
        transaction,
        { ...worker, facts: keptFacts(facts, now.getTime()), now },
        MOST_AT_A_SITE,
      );
      if (kept) return kept;
      const detail = `The site has ${MOST_AT_A_SITE} workers already: end some, or revoke those that are gone`;
      throw new Problem('worker.limit', detail);
    });
  }
}

/** Clocks of machines may be wrong: a worker tells how long it stays, and when it ends is an instant of the service. */
function keptFacts(
  { lifeSeconds, ...facts }: NonNullable<WorkerWordsRequest['facts']>,
  now: number,
): WorkerFacts {
  if (lifeSeconds === undefined) return { ...facts };
  return { ...facts, endsAt: new Date(now + lifeSeconds * 1000).toISOString() };
}

function requireProtocol(protocol: number): void {
  if (PROTOCOLS.includes(protocol)) return;
  const detail =
    `Protocol ${protocol} of workers is not spoken here, only ${PROTOCOLS.join(', ')}: ` +
    'run a worker of the release that the service has';
  throw new Problem('worker.protocol-unknown', detail);
}
