import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, Not, Repository } from 'typeorm';
import { columnsOf, Database, type Transaction } from '#src/database/index.js';
import { WorkerEntity, type SiteWorker } from './worker.entity.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const COLUMNS = columnsOf(WorkerEntity);

/** What a worker says of itself. */
export type WorkerWords = Pick<WorkerEntity, 'name' | 'version' | 'protocol' | 'facts'>;

/** What a worker is when it registers. */
export type NewWorker = WorkerWords &
  Pick<SiteWorker, 'id' | 'site' | 'jkt' | 'secretId'> & { now: Date };

/** Which workers are listed: of those gone only such as went after `goneAfter`. */
export interface WorkerSearch {
  site?: string | undefined;
  /** Id of the last one of the page before. */
  after?: string | undefined;
  limit: number;
  goneAfter: Date;
}

/** Queries of workers. */
@Injectable()
export class WorkersRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(WorkerEntity) private readonly workers: Repository<WorkerEntity>,
  ) {}

  /** The worker of this id; undefined when there is none, or it is gone. */
  async find(id: string): Promise<WorkerEntity | undefined> {
    if (!UUID.test(id)) return undefined;
    const [row] = await this.database.query<WorkerEntity>({
      name: 'jobs-worker-find',
      text: `select ${COLUMNS} from worker where id = $1 and removed_at is null`,
      values: [id],
    });
    return row;
  }

  /**
   * Keeps a new worker, or what the one with this key at this site now says of itself; its id, and whether it is new. Undefined
   * when it would be new and the site has `most`.
   */
  async register(
    transaction: Transaction,
    { id, site, jkt, secretId, name, version, protocol, facts, now }: NewWorker,
    most: number,
  ): Promise<{ id: string; isNew: boolean } | undefined> {
    const [row] = await transaction.query<{ id: string; isNew: boolean }>({
      name: 'jobs-worker-register',
      text: `insert into worker
          (id, site, jkt, secret_id, name, version, protocol, facts, created_at, seen_at)
        select $1, $2, $3, $4, $5, $6, $7, $8, $9, $9
        where (select count(*) from worker where site = $2 and removed_at is null) < $10
          or exists (select from worker where site = $2 and jkt = $3 and removed_at is null)
        on conflict (site, jkt) where removed_at is null do update set secret_id = excluded.secret_id,
          name = excluded.name, version = excluded.version, protocol = excluded.protocol,
          facts = excluded.facts, seen_at = excluded.seen_at
        returning id, xmax = 0 as "isNew"`,
      values: [id, site, jkt, secretId, name, version, protocol, JSON.stringify(facts), now, most],
    });
    return row;
  }

  /** There is the service's own worker of that id. */
  async keepOwn(id: string, now: Date): Promise<void> {
    await this.database.execute({
      name: 'jobs-worker-own',
      text: `insert into worker (id, name, version, protocol, facts, created_at, seen_at)
        values ($1, '', '', 0, '{}', $2, $2)
        on conflict (id) do update set seen_at = $2, removed_at = null`,
      values: [id, now],
    });
  }

  /** Keeps what a worker says of itself; the number of its last claim, undefined when it is gone. */
  async keepWords(id: string, words: WorkerWords, now: Date): Promise<number | undefined> {
    const { name, version, protocol, facts } = words;
    const [row] = await this.database.query<{ seq: number }>({
      name: 'jobs-worker-words',
      text: `update worker set name = $2, version = $3, protocol = $4, facts = $5, seen_at = $6
        where id = $1 and removed_at is null returning seq`,
      values: [id, name, version, protocol, JSON.stringify(facts), now],
    });
    return row && Number(row.seq);
  }

  /** Notes that it is there. */
  async noteSeen(id: string, now: Date): Promise<void> {
    await this.workers.update({ id, removedAt: IsNull() }, { seenAt: now });
  }

  /** Those of sites, by id. */
  async list({ site, after, limit, goneAfter }: WorkerSearch): Promise<SiteWorker[]> {
    const within = { site: site ?? Not(IsNull()), ...(after && { id: MoreThan(after) }) };
    if (after !== undefined && !UUID.test(after)) return [];
    const found = await this.workers.find({
      where: [
        { ...within, removedAt: IsNull() },
        { ...within, removedAt: MoreThan(goneAfter) },
      ],
      order: { id: 'ASC' },
      take: limit,
    });
    return found as SiteWorker[];
  }

  /** Executor → why it takes no runs, as it has said itself. */
  async faults(executors: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.query<{ executor: string; fault: string }>({
      name: 'jobs-worker-faults',
      text: 'select executor, fault from job_executors where executor = any($1::text[]) and fault is not null',
      values: [executors],
    });
    return new Map(rows.map(({ executor, fault }) => [executor, fault]));
  }

  /** How many there are at each site, by state. */
  async counts(silentSince: Date): Promise<{ site: string; state: string; count: number }[]> {
    return this.database.query({
      name: 'jobs-worker-counts',
      text: `select site, case when seen_at < $1 then 'silent' when draining_at is not null then 'draining'
            when paused_until > clock_timestamp() then 'paused' else 'active' end as state,
          count(*)::integer as count
        from worker where site is not null and removed_at is null group by 1, 2`,
      values: [silentSince],
    });
  }

  /** How many jobs the workers of each site hold. */
  async runs(): Promise<{ site: string; count: number }[]> {
    return this.database.query({
      name: 'jobs-worker-run-counts',
      text: `select w.site, count(*)::integer as count from worker w join jobs j on j.executor = 'worker:' || w.id
        where w.site is not null group by w.site`,
      values: [],
    });
  }

  /** Names and ids of those that are there, by their secrets. */
  async ofSecrets(site: string): Promise<Pick<WorkerEntity, 'id' | 'secretId'>[]> {
    const select = { id: true, secretId: true };
    return this.workers.find({
      select,
      where: { site, removedAt: IsNull() },
      order: { id: 'ASC' },
    });
  }

  /** It is given no runs from now on; false when it is gone. */
  async drain(id: string, now: Date): Promise<boolean> {
    const drainingAt = (): string => 'coalesce(draining_at, :now)';
    const { affected } = await this.workers
      .createQueryBuilder()
      .update({ drainingAt })
      .where({ id, removedAt: IsNull() })
      .setParameters({ now })
      .execute();
    return affected === 1;
  }

  /** It is gone from now on; false when it was already. */
  async remove(transaction: Transaction, id: string, now: Date): Promise<boolean> {
    const removed = await transaction.manager
      .getRepository(WorkerEntity)
      .update({ id, removedAt: IsNull() }, { removedAt: now });
    return removed.affected === 1;
  }

  /** Those that have shown one of the secrets last are gone from now on; how many. */
  async removeOf(transaction: Transaction, secrets: readonly string[], now: Date): Promise<number> {
    const gone = await transaction.query({
      name: 'jobs-worker-remove-of',
      text: `update worker set removed_at = $2
        where secret_id = any($1::text[]) and removed_at is null returning id`,
      values: [secrets, now],
    });
    return gone.length;
  }

  /** Those that were not seen since `silentSince` are gone; rows of those that went before `goneBefore` are removed. */
  async clean(
    transaction: Transaction,
    { silentSince, goneBefore, now }: Record<'silentSince' | 'goneBefore' | 'now', Date>,
  ): Promise<void> {
    await transaction.query({
      name: 'jobs-worker-forget',
      text: 'update worker set removed_at = $2 where removed_at is null and seen_at < $1',
      values: [silentSince, now],
    });
    await transaction.query({
      name: 'jobs-worker-executors',
      text: `delete from job_executors e where backend = 'worker' and seen_at < $1
        and not exists (select from jobs j where j.executor = e.executor)`,
      values: [goneBefore],
    });
    await transaction.query({
      name: 'jobs-worker-clean',
      text: 'delete from worker where removed_at < $1',
      values: [goneBefore],
    });
  }
}
