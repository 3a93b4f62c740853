import type { Queryable, Transaction } from '#src/database/index.js';
import { Problem } from '#src/kernel/index.js';

/** A run of a job, to which bytes belong until they are registered. */
export interface BytesRun {
  jid: number | bigint;
  attempt: number;
}

/** Bytes that a run of a job stores. */
export interface RunBytes {
  id: number | bigint;
  path: string;
  se_id: number;
  attempt: number;
  state: 'arriving' | 'removing';
  size: number | bigint;
  adler32: string;
  sha256: string;
  /** 0: the run has not been let in yet. */
  removals: number;
  /** They were looked at at their element, and are what they are to be. */
  has_arrived: boolean;
  /** Changes with every change of the row. */
  version: string;
}

/** What belongs to the job, of all of its attempts. */
export async function bytesOfJob(source: Queryable, jid: number | bigint): Promise<RunBytes[]> {
  return source.query<RunBytes>({
    name: 'catalogue-bytes-of-job',
    text: `select id, path, se_id, attempt, state, size, adler32, sha256, removals,
             arrived_at is not null as has_arrived, xmin::text as version
           from catalogue_bytes where jid = $1`,
    values: [String(jid)],
  });
}

/** A place that a run holds. */
export interface HeldPlace {
  id: number | bigint;
  se_id: number;
  removals: number;
}

/** True where the run holds the path. */
export async function holdsPath(
  source: Queryable,
  { jid, attempt }: BytesRun,
  path: string,
): Promise<boolean> {
  const rows = await source.query({
    name: 'catalogue-bytes-held-by-run',
    text: `select from catalogue_bytes where jid = $1 and attempt = $2 and path = $3 and state = 'arriving'`,
    values: [String(jid), attempt, path],
  });
  return rows.length > 0;
}

/** Takes a path that the run holds, for whom asks alone until the other time; undefined where somebody else has it. */
export async function workAt(
  source: Queryable,
  { jid, attempt }: BytesRun,
  { path, now, until }: { path: string; now: Date; until: Date },
): Promise<HeldPlace | undefined> {
  const [row] = await source.query<HeldPlace>({
    name: 'catalogue-bytes-work',
    text: `update catalogue_bytes set worked_until = $5
           where jid = $1 and attempt = $2 and path = $3 and state = 'arriving' and arrived_at is null
             and (worked_until is null or worked_until <= $4)
           returning id, se_id, removals`,
    values: [String(jid), attempt, path, now, until],
  });
  return row;
}

/** Another request may have the path that was taken until then. */
export async function leave(
  source: Queryable,
  id: number | bigint,
  { until }: { until: Date },
): Promise<void> {
  await source.execute({
    name: 'catalogue-bytes-leave-work',
    text: 'update catalogue_bytes set worked_until = null where id = $1 and worked_until = $2',
    values: [String(id), until],
  });
}

/** Lets the run in at a path that was taken until then; false when that time is over. */
export async function letRunIn(
  source: Queryable,
  id: number | bigint,
  { until }: { until: Date },
  now: Date,
): Promise<boolean> {
  const count = await source.execute({
    name: 'catalogue-bytes-let-run-in',
    text: `update catalogue_bytes set removals = 2, worked_until = null
           where id = $1 and state = 'arriving' and worked_until = $2 and worked_until > $3`,
    values: [String(id), until, now],
  });
  return count === 1;
}

/**
 * Bytes that did not arrive are removed now, and others of the same path are awaited at another element by whoever has taken it until
 * then. Undefined where they cannot be: somebody else has it, or some are being removed there.
 */
export async function moveBytes(
  transaction: Transaction,
  { jid, attempt }: BytesRun,
  { path, seId, now, until }: { path: string; seId: number; now: Date; until: Date },
): Promise<HeldPlace | undefined> {
  const left = await transaction.query<{ id: number | bigint }>({
    name: 'catalogue-bytes-leave',
    text: `update catalogue_bytes set state = 'removing', due_at = $4
           where jid = $1 and attempt = $2 and path = $3 and state = 'arriving' and worked_until = $5 returning id`,
    values: [String(jid), attempt, path, now, until],
  });
  const [row] = await transaction.query<HeldPlace>({
    name: 'catalogue-bytes-go-elsewhere',
    text: `insert into catalogue_bytes
             (state, path, owner_id, se_id, size, due_at, jid, attempt, adler32, sha256, worked_until)
           select 'arriving', path, owner_id, $2, size, 'infinity', jid, attempt, adler32, sha256, worked_until
           from catalogue_bytes where id = any($1::bigint[]) on conflict do nothing returning id, se_id, removals`,
    values: [left.map(({ id }) => String(id)), seId],
  });
  if (!row && left.length > 0)
    throw new Problem('catalogue.being-removed', `Bytes of ${path} are being removed`);
  return row;
}

/** Takes bytes that are to be removed, for whom asks alone until the other time; false where somebody else has them. */
export async function claimLeft(
  source: Queryable,
  { id, now, until }: { id: number | bigint; now: Date; until: Date },
): Promise<boolean> {
  const count = await source.execute({
    name: 'catalogue-bytes-claim-left',
    text: `update catalogue_bytes set due_at = greatest(due_at, $3), worked_until = $3
           where id = $1 and state = 'removing' and (worked_until is null or worked_until <= $2)`,
    values: [String(id), now, until],
  });
  return count === 1;
}

/** They have arrived, unless something became of them since they were read, or somebody works at them. Answers which have. */
export async function noteArrived(
  source: Queryable,
  bytes: readonly Pick<RunBytes, 'id' | 'version'>[],
  now: Date,
): Promise<string[]> {
  const rows = await source.query<{ path: string }>({
    name: 'catalogue-bytes-arrived',
    text: `update catalogue_bytes b set arrived_at = $3 from unnest($1::bigint[], $2::text[]) w (id, version)
           where b.id = w.id and b.xmin::text = w.version and b.state = 'arriving'
             and (b.worked_until is null or b.worked_until <= $3)
           returning b.path`,
    values: [bytes.map(({ id }) => String(id)), bytes.map(({ version }) => version), now],
  });
  return rows.map(({ path }) => path);
}

/** Runs that have bytes which are not registered, after another one. */
export async function runsWithBytes(
  source: Queryable,
  { jid, attempt }: BytesRun = { jid: -1, attempt: 0 },
): Promise<BytesRun[]> {
  return source.query<BytesRun>({
    name: 'catalogue-bytes-runs',
    text: `select distinct jid, attempt from catalogue_bytes
           where jid is not null and state = 'arriving' and (jid, attempt) > ($1::bigint, $2::integer)
           order by jid, attempt limit 1000`,
    values: [String(jid), attempt],
  });
}

/** Nobody waits for the bytes of these runs: they are removed from then on, when nothing lets any in any more. */
export async function giveUp(
  transaction: Transaction,
  runs: readonly BytesRun[],
  due: Date,
): Promise<void> {
  const values = [runs.map(({ jid }) => String(jid)), runs.map(({ attempt }) => attempt)];
  const own = `from unnest($1::bigint[], $2::integer[]) r (jid, attempt)
           where b.jid = r.jid and b.attempt = r.attempt and b.state = 'arriving'`;
  await transaction.execute({
    name: 'catalogue-bytes-give-up-run',
    text: `update catalogue_bytes b set state = 'removing', due_at = $3, removals = 1 ${own} and b.removals > 0`,
    values: [...values, due],
  });
  await transaction.execute({
    name: 'catalogue-bytes-never-let-in',
    text: `delete from catalogue_bytes b using unnest($1::bigint[], $2::integer[]) r (jid, attempt)
           where b.jid = r.jid and b.attempt = r.attempt and b.state = 'arriving' and b.removals = 0`,
    values,
  });
}

/** Those of an earlier attempt are gone. */
export async function forgetOf(source: Queryable, id: number | bigint): Promise<void> {
  await source.execute({
    name: 'catalogue-bytes-forget-attempt',
    text: 'delete from catalogue_bytes where id = $1',
    values: [id],
  });
}
