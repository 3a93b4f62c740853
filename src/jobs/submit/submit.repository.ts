import { Injectable } from '@nestjs/common';
import { stringifyJson, type JsonObject } from '#src/kernel/index.js';
import { ChangeFeed, Database, type Transaction } from '#src/platform/index.js';
import type { Jid } from '../job.js';
import type { Step } from '../jobs.repository.js';
import { insertJobId } from '../manifest/parametric.js';
import type { JobRequest } from '../manifest/manifest.js';
import { assertPath } from '../state/job-transitions.js';
import { ADMISSION, admissionSteps, WORK_CHANNEL } from '../state/admission.js';

/** Jobs of one request, all by the same caller. */
export interface NewJobs {
  requests: readonly JobRequest[];
  owner: string;
  ownerDn: string;
  ownerGroup: string;
  vo: string;
  setup: string;
  inputSandbox: string | undefined;
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
export interface EarlierAnswer {
  bodyHash: string;
  answer: JsonObject;
}

/** Writes new jobs: all of a request in one transaction, or none. */
@Injectable()
export class SubmitRepository {
  constructor(private readonly database: Database) {}

  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.database.transaction(work);
  }

  /** Adds the jobs with their history and wakes the dispatchers; answers their ids in the order of the requests. */
  async add(transaction: Transaction, jobs: NewJobs): Promise<Jid[]> {
    const jids = await this.newIds(transaction, jobs.requests.length);
    const records = jobs.requests.map((request, index) => recordOf(request, jids[index] as Jid));
    await transaction.execute({
      name: 'jobs-add',
      text: ADD,
      values: [
        stringifyJson(records),
        jobs.setup,
        jobs.owner,
        jobs.ownerDn,
        jobs.ownerGroup,
        jobs.vo,
        jobs.inputSandbox ?? null,
        jobs.now,
      ],
    });
    await transaction.query(ChangeFeed.notification(WORK_CHANNEL));
    return jids;
  }

  /** Takes the key for this transaction; false when another request with it is under way. */
  async lockKey(transaction: Transaction, key: IdempotencyKey): Promise<boolean> {
    const text = JSON.stringify([key.owner, key.ownerGroup, key.setup, key.key]);
    const [row] = await transaction.query<{ got: boolean }>({
      name: 'jobs-key-lock',
      text: 'select pg_try_advisory_xact_lock(hashtextextended($1, 7)) as got',
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
    const [row] = await transaction.query<{ body_hash: string; answer: JsonObject }>({
      name: 'jobs-key-find',
      text: `select body_hash, answer from job_idempotency_keys
        where owner = $1 and owner_group = $2 and setup = $3 and key = $4 and created_at > $5`,
      values: [key.owner, key.ownerGroup, key.setup, key.key, after],
    });
    return row && { bodyHash: row.body_hash, answer: row.answer };
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
    await this.database.execute({
      name: 'jobs-key-forget',
      text: 'delete from job_idempotency_keys where created_at < $1',
      values: [before],
    });
  }

  private async newIds(transaction: Transaction, count: number): Promise<Jid[]> {
    const rows = await transaction.query<{ jid: Jid }>({
      name: 'jobs-new-ids',
      text: `select nextval(pg_get_serial_sequence('jobs', 'jid')) as jid
        from generate_series(1, $1)`,
      values: [count],
    });
    return rows.map((row) => row.jid);
  }
}

function recordOf(request: JobRequest, jid: Jid): Record<string, unknown> {
  const steps: Step[] = admissionSteps(request.inputData.length > 0);
  assertPath(steps.map((step) => step.to));
  const last = steps[steps.length - 1] as Step;
  const manifest: JsonObject = { ...insertJobId(request.manifest, jid), JobID: jid };
  return {
    jid,
    name: typeof manifest['JobName'] === 'string' ? manifest['JobName'] : request.name,
    job_group: request.jobGroup,
    job_type: request.jobType,
    site: shownSite(request.sites),
    priority: request.priority,
    cpu_time: request.cpuTime,
    wanted_sites: request.sites,
    banned_sites: request.bannedSites,
    processors: request.resources.processors,
    min_ram_mb: request.resources.minRamMB ?? 0,
    gpus: request.resources.gpus,
    tags: request.resources.tags,
    wall_time: request.resources.wallTimeSeconds ?? null,
    status: last.to,
    minor: last.minor,
    verified: last.to === ADMISSION.admitted,
    steps,
    manifest,
  };
}

/** What the record shows before a site has taken the job. */
export function shownSite(sites: readonly string[]): string {
  if (sites.length === 0) return 'ANY';
  return sites.length === 1 ? (sites[0] as string) : 'Multiple';
}

const ADD = `
  with r as materialized (
    select * from json_to_recordset($1::json) as x (
      jid bigint, name text, job_group text, job_type text, site text, priority integer, cpu_time integer,
      wanted_sites text[], banned_sites text[], processors integer, min_ram_mb integer, gpus integer,
      tags text[], wall_time integer, status text, minor text, verified boolean, steps json,
      manifest json)
  ), added as (
    insert into jobs (jid, setup, owner, owner_dn, owner_group, vo, status, minor_status, name, job_group,
      job_type, site, priority, cpu_time, wanted_sites, banned_sites, processors, min_ram_mb, gpus, tags,
      wall_time, verified, input_sandbox,
      submission_time, last_update)
    overriding system value
    select jid, $2, $3, $4, $5, $6, status, minor, name, job_group, job_type, site, priority, cpu_time,
      wanted_sites, banned_sites, processors, min_ram_mb, gpus, tags, wall_time, verified, $7, $8, $8 from r
  ), described as (
    insert into job_descriptions (jid, manifest) select jid, manifest from r
  )
  insert into job_history (jid, status, minor_status, app_status, time, source)
  select r.jid, s.step ->> 'to', s.step ->> 'minor', 'Unknown', $8::timestamptz, s.step ->> 'source'
  from r, json_array_elements(r.steps) with ordinality as s (step, n) order by r.jid, s.n`;
