import { Inject, Injectable } from '@nestjs/common';
import {
  CLOCK,
  constantTimeEqual,
  Problem,
  randomId,
  randomToken,
  sha256,
  type Clock,
} from '#src/kernel/index.js';
import { Audit, type AuditOrigin } from '#src/audit/index.js';
import { RateLimits } from '#src/auth/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { SiteSecretEntity } from './site-secret.entity.js';
import { SiteSecretsRepository } from './site-secrets.repository.js';
import { WorkerSites } from './worker-sites.js';
import { WorkersRepository } from './workers.repository.js';

/** Secrets are found by it where they should not be. */
const PREFIX = 'gridgate-site';
const ID_LENGTH = 12;
/** What no secret has as its hash. */
const NO_HASH = sha256('');

/** A secret as administrators see it, without itself. */
export interface SiteSecretReport {
  id: string;
  site: string;
  /** `used`: by the one worker that it is for. */
  state: 'unused' | 'used' | 'reusable' | 'revoked';
  createdAt: string;
  createdBy: string;
  revokedAt?: string;
  /** Workers that have shown it last and are not gone. */
  workers: number;
}

/** The public id that stands in a secret; empty in what is none. */
function secretIdIn(secret: string): string {
  const [prefix, id = '', ...rest] = secret.split('.');
  return prefix === PREFIX && rest.length === 1 ? id : '';
}

/** Secrets with which workers enrol at sites. */
@Injectable()
export class SiteSecrets {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly database: Database,
    private readonly secrets: SiteSecretsRepository,
    private readonly workers: WorkersRepository,
    private readonly sites: WorkerSites,
    private readonly limits: RateLimits,
    private readonly audit: Audit,
  ) {}

  /**
   * The secret that somebody shows for a site. Throws Problem 403, the same one whatever is wrong with it, 429 after too many such
   * from the address, and for a right one 409 where the site takes no workers.
   */
  async requireRight(site: string, text: string, request: HttpRequest): Promise<SiteSecretEntity> {
    await this.limits.requireSiteGuess(request);
    const secret = await this.secrets.find(secretIdIn(text));
    const isRight = constantTimeEqual(sha256(text), secret?.hash ?? NO_HASH);
    if (!secret || !isRight || secret.site !== site || secret.revokedAt !== null) {
      await this.limits.countSiteGuess(request);
      throw secretRefused();
    }
    await this.sites.requireOpen(site);
    return secret;
  }

  /** Uses it for the worker with this key, until the transaction ends unrevoked. Throws Problem 403 when it is another one's. */
  async use(transaction: Transaction, secret: SiteSecretEntity, jkt: string): Promise<void> {
    if (!(await this.secrets.use(transaction, secret, jkt))) throw secretRefused();
  }

  /** Makes one, which is shown this one time. Throws Problem 409 for a site without the backend `worker`. */
  async add(
    site: string,
    { reusable, by, ...origin }: AuditOrigin & { reusable: boolean; by: string },
  ): Promise<{ id: string; secret: string }> {
    await this.sites.requireOpen(site);
    const id = randomId().replaceAll('-', '').slice(0, ID_LENGTH);
    const secret = `${PREFIX}.${id}.${randomToken()}`;
    const made = { createdAt: new Date(this.clock.now()), createdBy: by };
    const unused = { jkt: null, revokedAt: null };
    await this.secrets.add({ id, site, hash: sha256(secret), reusable, ...made, ...unused });
    this.audit.done('site.secret-added', { site, secret: id, reusable }, origin);
    return { id, secret };
  }

  /** Those of the site, oldest first; none of a site that there is not. */
  async list(site: string): Promise<SiteSecretReport[]> {
    const workers = await this.workers.ofSecrets(site);
    const secrets = await this.secrets.ofSite(site);
    return secrets.map(({ id, reusable, jkt, createdAt, createdBy, revokedAt }) => {
      const open = reusable ? 'reusable' : jkt === null ? 'unused' : 'used';
      return {
        ...{ id, site, state: revokedAt === null ? open : 'revoked' },
        ...{ createdAt: createdAt.toISOString(), createdBy },
        ...(revokedAt && { revokedAt: revokedAt.toISOString() }),
        workers: workers.filter(({ secretId }) => secretId === id).length,
      };
    });
  }

  /**
   * Nobody enrols with them any more: all of the site, or the one of this id. With `withWorkers` those are gone, too, that have
   * shown them last, also where they were revoked before. Throws Problem 404 when there is none.
   */
  async revoke(
    site: string,
    { id, withWorkers, ...origin }: AuditOrigin & { id: string | undefined; withWorkers: boolean },
  ): Promise<{ secrets: string[]; workers: number }> {
    const now = new Date(this.clock.now());
    const done = await this.database.transaction(async (transaction) => {
      const secrets = await this.secrets.revoke(transaction, { site, id, now });
      const workers = withWorkers ? await this.workers.removeOf(transaction, secrets, now) : 0;
      return { secrets, workers };
    });
    if (done.secrets.length === 0) {
      const which = id === undefined ? '' : ` with the id ${id}`;
      throw new Problem('site.secret-not-found', `Site ${site} has no secret${which}`);
    }
    this.audit.done('site.secret-revoked', { site, ...done }, origin);
    return done;
  }
}

/** The same for all that can be wrong with a secret. */
function secretRefused(): Problem {
  const detail =
    'The secret is none of this site, is revoked, or belongs to another worker: look whether the site is right, or ask an administrator for a new one (gridgate site secret add)';
  return new Problem('worker.secret-refused', detail);
}
