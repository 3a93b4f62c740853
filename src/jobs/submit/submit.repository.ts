import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, MoreThan, Repository } from 'typeorm';
import { stringifyJson } from '#src/kernel/index.js';
import { ChangeFeed, Database, LOCK_SEEDS, type Transaction } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import { JobTokenRightEntity } from '../run/job-token-right.entity.js';
import type { Jid } from '../state/job.js';
import { WORK_CHANNEL } from '../state/admission.js';
import { ADD_JOBS, ADD_MANY_JOBS, ADD_TEMPLATES, LOGGED_TOGETHER } from './add-jobs.sql.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { templateOf } from './job-lines.js';
import type { TokenRight } from './token-rights.js';

/** Jobs of one request, all by the same caller. */
export interface NewJobs {
  /** Lines of jobs and templates (job-lines.ts), and how many there are of each. */
  lines: AsyncIterable<string>;
  count: number;
  templates: number;
  /** What their tokens may be. */
  tokenRights: readonly TokenRight[];
  owner: string;
  ownerDn: string;
  ownerGroup: string;
  vo: string;
  setup: string;
  inputSandbox: string | undefined;
  /** The array that they are members of. */
  arrayId: Jid | undefined;
  now: Date;
}

/** Whose idempotency key it is, and what the key stands for. */
export interface IdempotencyKey {
  owner: string;
  ownerGroup: string;
  setup: string;
  key: string;
  bodyHash: string;
}

/** A request with that key that was answered before. */
export type EarlierAnswer = Pick<IdempotencyKeyEntity, 'bodyHash' | 'answer'>;

const BATCH_JOBS = 500;
const BATCH_CHARACTERS = 256 * 1024;

/** Writes new jobs: all of a request in one transaction, or none. */
@Injectable()
export class SubmitRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(IdempotencyKeyEntity) private readonly keys: Repository<IdempotencyKeyEntity>,
    private readonly events: EventLog,
  ) {}

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  /**
   * Adds the jobs with their history and wakes the dispatchers; answers their ids in the order of the lines. They are
   * written in batches: neither the text nor the time of one statement grows with the request.
   */
  async add(transaction: Transaction, jobs: NewJobs): Promise<Jid[]> {
    const jids = await this.newIds(transaction, 'jobs', 'jid', jobs.count);
    const templates = await this.newIds(transaction, 'job_templates', 'id', jobs.templates);
    if (jobs.tokenRights.length > 0) {
      await transaction.manager.insert(JobTokenRightEntity, [...jobs.tokenRights]);
    }
    const writing = new BatchWriting(transaction, jobs, { jids, templates });
    for await (const line of jobs.lines) await writing.add(line);
    await writing.end();
    this.events.wrote('jobs', transaction);
    await transaction.query(ChangeFeed.notification(WORK_CHANNEL));
    return jids;
  }

  /** Takes the key for this transaction; false when another request with it is under way. */
  async lockKey(transaction: Transaction, key: IdempotencyKey): Promise<boolean> {
    const text = JSON.stringify([key.owner, key.ownerGroup, key.setup, key.key]);
    const [row] = await transaction.query<{ got: boolean }>({
      name: 'jobs-key-lock',
      text: `select pg_try_advisory_xact_lock(hashtextextended($1, ${LOCK_SEEDS.idempotencyKeys})) as got`,
      values: [text],
    });
    return row?.got ?? false;
  }

  /** What was answered to the key since `after`. */
  async earlierAnswer(
    transaction: Transaction,
    key: IdempotencyKey,
    after: Date,
  ): Promise<EarlierAnswer | undefined> {
    const { owner, ownerGroup, setup } = key;
    const found = await transaction.manager
      .getRepository(IdempotencyKeyEntity)
      .findOneBy({ owner, ownerGroup, setup, key: key.key, createdAt: MoreThan(after) });
    return found ?? undefined;
  }

  /** Remembers the answer of the key. */
  async remember(
    transaction: Transaction,
    key: IdempotencyKey,
    answer: object,
    now: Date,
  ): Promise<void> {
    await transaction.execute({
      name: 'jobs-key-keep',
      text: `insert into job_idempotency_keys
          (owner, owner_group, setup, key, body_hash, answer, created_at)
        values ($1, $2, $3, $4, $5, $6, $7)
        on conflict (owner, owner_group, setup, key) do update set
          body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at`,
      values: [
        key.owner,
        key.ownerGroup,
        key.setup,
        key.key,
        key.bodyHash,
        stringifyJson(answer),
        now,
      ],
    });
  }

  /** Forgets keys older than `before`. */
  async forgetKeys(before: Date): Promise<void> {
    await this.keys.delete({ createdAt: LessThan(before) });
  }

  private async newIds(
    transaction: Transaction,
    table: 'jobs' | 'job_templates',
    column: string,
    count: number,
  ): Promise<Jid[]> {
    if (count === 0) return [];
    const rows = await transaction.query<{ id: Jid }>({
      name: `jobs-new-ids-${table}`,
      text: `select nextval(pg_get_serial_sequence('${table}', '${column}')) as id
        from generate_series(1, $1)`,
      values: [count],
    });
    return rows.map((row) => row.id);
  }
}

/** The statements of one submit, as its lines are read: the next batch is read while the database writes one. */
class BatchWriting {
  private lines: string[] = [];
  private templates: string[] = [];
  private characters = 0;
  private jobsWritten = 0;
  private templatesWritten = 0;
  private written: Promise<void> = Promise.resolve();

  constructor(
    private readonly transaction: Transaction,
    private readonly jobs: NewJobs,
    private readonly ids: { jids: readonly Jid[]; templates: readonly Jid[] },
  ) {}

  async add(line: string): Promise<void> {
    const template = templateOf(line);
    (template === undefined ? this.lines : this.templates).push(template ?? line);
    this.characters += line.length;
    if (this.characters >= BATCH_CHARACTERS || this.lines.length >= BATCH_JOBS) await this.flush();
  }

  /** Writes what has gathered, and waits until all is written. */
  async end(): Promise<void> {
    await this.flush();
    await this.written;
  }

  private async flush(): Promise<void> {
    await this.written;
    const { lines, templates } = this;
    [this.lines, this.templates, this.characters] = [[], [], 0];
    this.written = this.write(lines, templates);
    // Nobody listens before the next batch, and a request that ends in between is told all the same.
    this.written.catch(() => undefined);
  }

  private async write(lines: readonly string[], templates: readonly string[]): Promise<void> {
    if (templates.length > 0) await this.addTemplates(templates);
    if (lines.length > 0) await this.addJobs(lines);
  }

  private async addTemplates(texts: readonly string[]): Promise<void> {
    const start = this.templatesWritten;
    this.templatesWritten += texts.length;
    await this.transaction.execute({
      name: 'jobs-add-templates',
      text: ADD_TEMPLATES,
      values: [
        `[${texts.join(',')}]`,
        this.ids.templates.slice(start, this.templatesWritten).map(String),
      ],
    });
  }

  private async addJobs(texts: readonly string[]): Promise<void> {
    const { jobs, ids } = this;
    const start = this.jobsWritten;
    this.jobsWritten += texts.length;
    await this.transaction.execute({
      ...(texts.length < LOGGED_TOGETHER ? ADD_JOBS : ADD_MANY_JOBS),
      values: [
        `[${texts.join(',')}]`,
        jobs.setup,
        jobs.owner,
        jobs.ownerDn,
        jobs.ownerGroup,
        jobs.vo,
        jobs.inputSandbox ?? null,
        ids.jids.slice(start, this.jobsWritten).map(String),
        ids.templates.map(String),
        jobs.now,
        jobs.arrayId === undefined ? null : String(jobs.arrayId),
      ],
    });
  }
}
