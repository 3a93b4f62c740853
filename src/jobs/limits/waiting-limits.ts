import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { RegistryService, runsJobsOf, type JobOrigin, type Site } from '#src/registry/index.js';
import { LimitsRepository } from './limits.repository.js';
import { limitsOf, LimitTally, type LimitedOwner } from './owner-limits.js';

/** Nobody knows when enough jobs will have gone: a client asks again after a minute. */
const RETRY_AFTER_SECONDS = 60;

/** Notes in `bySite` a job that names these sites: it counts at one that it names alone and that is among `open`, which run such jobs. */
export function countSite(
  bySite: Map<string, number>,
  [site, ...others]: readonly string[],
  open: ReadonlySet<string>,
): void {
  if (site === undefined || others.length > 0 || !open.has(site)) return;
  bySite.set(site, (bySite.get(site) ?? 0) + 1);
}

/** A job that is to wait again. */
interface Returning {
  wantedSites: readonly string[];
}

/** How many jobs, in their order, may wait again; `over` says why the next one may not. */
export interface Room {
  count: number;
  over?: Problem;
}

/** Jobs that are to be added. */
export interface Newcomers extends LimitedOwner {
  count: number;
  /** Of them, by the one site that they name. */
  bySite: ReadonlyMap<string, number>;
}

interface Check {
  key: string;
  name: string;
  most: number;
  added: number;
  /** Counts under it of what waits. */
  waiting: number;
  /** Absent: a limit of owners. */
  site?: Site;
}

/** Refuses jobs of which too many would wait. */
@Injectable()
export class WaitingLimits {
  constructor(
    private readonly database: Database,
    private readonly repository: LimitsRepository,
    private readonly registry: RegistryService,
  ) {}

  /**
   * Throws Problem 429 that names the limit when so many jobs are too many. In a transaction nobody else adds jobs under the same
   * limits before its end.
   */
  async require(newcomers: Newcomers, transaction?: Transaction): Promise<void> {
    const checks = await this.checksOf(newcomers);
    if (checks.length === 0) return;
    const keys = checks.map(({ key }) => key);
    if (transaction) await this.repository.lock(transaction, keys);
    await this.count(checks, newcomers, transaction);
    const over = checks.find(({ most, added, waiting }) => waiting + added > most);
    if (over) throw tooMany(over);
  }

  /**
   * Until the transaction ends nobody else adds jobs that any limit of the owner's counts. To be called before the jobs are read that
   * `room` is asked for: what others have sent back before is known then.
   */
  async begin(owned: LimitedOwner, transaction: Transaction): Promise<void> {
    const registry = await this.registry.current();
    const ofSites = registry
      .sites()
      .flatMap(({ name, limits }) => (limits?.waiting === undefined ? [] : [siteKey(name)]));
    const ofOwner = limitsOf(owned, registry).flatMap(({ key, waiting }) =>
      waiting === undefined ? [] : [key],
    );
    const keys = [...ofOwner, ...ofSites];
    if (keys.length > 0) await this.repository.lock(transaction, keys);
  }

  /** How many of these jobs of an owner, a setup and a virtual organisation may wait again now. */
  async room(
    { owner, ownerGroup, setup, vo }: LimitedOwner & JobOrigin,
    jobs: readonly Returning[],
    transaction: Transaction,
  ): Promise<Room> {
    const bySite = new Map<string, number>();
    const sites = (await this.registry.current()).sitesOf({ setup, vo });
    const open = new Set(sites.map(({ name }) => name));
    for (const { wantedSites } of jobs) countSite(bySite, wantedSites, open);
    const newcomers = { owner, ownerGroup, count: jobs.length, bySite };
    const checks = await this.checksOf(newcomers);
    await this.count(checks, newcomers, transaction);
    for (const check of checks) check.added = 0;
    for (const [count, { wantedSites }] of jobs.entries()) {
      const [alone = ''] = wantedSites.length === 1 ? wantedSites : [];
      const counting = checks.filter(({ site }) => (site?.name ?? alone) === alone);
      for (const check of counting) check.added += 1;
      const over = counting.find(({ most, added, waiting }) => waiting + added > most);
      if (over) return { count, over: tooMany({ ...over, added: jobs.length }) };
    }
    return { count: jobs.length };
  }

  /** True when a limit of waiting jobs counts them: then nobody may add others between the count and their commit. */
  async concern(newcomers: Newcomers): Promise<boolean> {
    return (await this.checksOf(newcomers)).length > 0;
  }

  private async checksOf(newcomers: Newcomers): Promise<Check[]> {
    const registry = await this.registry.current();
    const ofOwner = limitsOf(newcomers, registry).flatMap(({ key, name, waiting: most }) =>
      most === undefined ? [] : [{ key, name, most, added: newcomers.count, waiting: 0 }],
    );
    const ofSites = [...newcomers.bySite].flatMap(([name, added]) => {
      const site = registry.site(name);
      const most = site?.limits?.waiting;
      return most === undefined
        ? []
        : [{ key: siteKey(name), name: `site ${name}`, most, added, waiting: 0, site }];
    });
    return [...ofOwner, ...ofSites];
  }

  private async count(
    checks: readonly Check[],
    { owner, ownerGroup, bySite }: Newcomers,
    transaction: Transaction | undefined,
  ): Promise<void> {
    if (checks.length === 0) return;
    const rows = await this.repository.waiting(
      transaction ?? this.database,
      { groups: [ownerGroup], owners: [owner] },
      [...bySite.keys()],
    );
    const tally = new LimitTally(rows);
    for (const check of checks) {
      const { site } = check;
      const atSite = rows.filter((row) => row.site === site?.name && runsJobsOf(site, row));
      check.waiting = tally.of(check) + atSite.reduce((sum, { jobs }) => sum + jobs, 0);
    }
  }
}

function siteKey(site: string): string {
  return JSON.stringify(['site', site]);
}

/** How many wait at a site is not told: they are those of all virtual organisations. */
function tooMany({ name, most, added, waiting, site }: Check): Problem {
  const more = added === 1 ? '1 more is' : `${added} more are`;
  const found = site ? '' : `, and ${waiting} wait`;
  const text = `The limit of ${name} is ${most} waiting jobs${found}: ${more} too many`;
  return new Problem('job.limit', text, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    members: { limit: most, limitOf: name, ...(!site && { waiting }), submitted: added },
  });
}
