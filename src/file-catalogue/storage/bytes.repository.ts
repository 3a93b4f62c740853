import type { Queryable } from '#src/database/index.js';
import type { BytesState } from '../writing/catalogue-bytes.entity.js';
import { baseName, parentPath } from '../path/catalogue-path.js';

/** What a user holds a path for. */
export interface OwnBytes {
  id: number | bigint;
  se_id: number;
  md5: string | null;
}

/** The bytes for which a user holds the path and has been let in. */
export async function findOwn(
  source: Queryable,
  path: string,
  ownerId: number,
): Promise<OwnBytes | undefined> {
  const [row] = await source.query<OwnBytes>({
    name: 'catalogue-bytes-own',
    text: `select id, se_id, md5 from catalogue_bytes
           where path = $1 and owner_id = $2 and state = 'arriving' and jid is null and removals > 0`,
    values: [path, ownerId],
  });
  return row;
}

const OWN_PLACES = `unnest($1::text[], $2::integer[], $3::text[]) w (path, se_id, md5)
           where b.path = w.path and b.se_id = w.se_id and b.md5 is not distinct from w.md5
             and b.owner_id = $4 and b.state = 'arriving' and b.jid is null`;

/** Where a user wants to be let in, and what with. */
export interface AwaitedBytes {
  path: string;
  seId: number;
  md5: string | undefined;
}

/** Lets a user in at paths that it holds for these bytes; they may be held for others meanwhile. Answers at how many of them. */
export async function letIn(
  source: Queryable,
  { places, ownerId }: { places: readonly AwaitedBytes[]; ownerId: number },
): Promise<number> {
  return source.execute({
    name: 'catalogue-bytes-let-in',
    text: `update catalogue_bytes b set removals = 2 from ${OWN_PLACES}`,
    values: [...placeValues(places), ownerId],
  });
}

/** The paths are no longer held for these bytes where the user has not been let in. */
export async function giveUp(
  source: Queryable,
  { places, ownerId }: { places: readonly AwaitedBytes[]; ownerId: number },
): Promise<void> {
  await source.execute({
    name: 'catalogue-bytes-give-up',
    text: `delete from catalogue_bytes b using ${OWN_PLACES} and b.removals = 0`,
    values: [...placeValues(places), ownerId],
  });
}

function placeValues(places: readonly AwaitedBytes[]): unknown[] {
  return [
    places.map(({ path }) => path),
    places.map(({ seId }) => seId),
    places.map(({ md5 }) => md5 ?? null),
  ];
}

/** The storage elements where a file has bytes that came through this service. */
export async function storedAt(source: Queryable, path: string): Promise<number[]> {
  const [row] = await source.query<{ stored: number[] | null }>({
    name: 'catalogue-file-stored',
    text: `select f.stored from catalogue_directory d
           join catalogue_file f on f.directory_id = d.id and f.name = $2 where d.path = $1`,
    values: [parentPath(path), baseName(path)],
  });
  return row?.stored ?? [];
}

/** Bytes that are to be removed. */
export interface RemovedBytes {
  id: number | bigint;
  path: string;
  se_id: number;
  tries: number;
  removals: number;
}

/** The storage elements where bytes are to be removed now. */
export async function findDue(source: Queryable, now: Date): Promise<number[]> {
  const rows = await source.query<{ se_id: number }>({
    name: 'catalogue-bytes-due',
    text: `with recursive element (se_id) as (
             select min(se_id) from catalogue_bytes
             union all
             select (select min(se_id) from catalogue_bytes b where b.se_id > e.se_id)
             from element e where e.se_id is not null)
           select se_id from element e where exists (
             select from catalogue_bytes b where b.se_id = e.se_id and b.due_at <= $1)`,
    values: [now],
  });
  return rows.map(({ se_id: seId }) => seId);
}

/**
 * Takes some bytes at a storage element whose time has come, also those that did not arrive in time, for whom asks alone until the other
 * time. Whatever comes for their path waits until they are gone.
 */
export async function claimDue(
  source: Queryable,
  { seId, now, until, most }: { seId: number; now: Date; until: Date; most: number },
): Promise<RemovedBytes[]> {
  return source.query<RemovedBytes>({
    name: 'catalogue-bytes-claim',
    text: `update catalogue_bytes set state = 'removing', due_at = $3, worked_until = $3 where id in (
             select id from catalogue_bytes where se_id = $1 and due_at <= $2
             order by due_at limit $4 for update skip locked)
           returning id, path, se_id, tries, removals`,
    values: [seId, now, until, most],
  });
}

/** They are gone: their path is free. */
export async function forgetBytes(source: Queryable, id: number | bigint): Promise<void> {
  await source.execute({
    name: 'catalogue-bytes-forget',
    text: `delete from catalogue_bytes where id = $1 and state = 'removing'`,
    values: [id],
  });
}

/** They are gone, and are removed then once more. */
export async function removeAgain(
  source: Queryable,
  { id, next }: { id: number | bigint; next: Date },
): Promise<void> {
  await source.execute({
    name: 'catalogue-bytes-again',
    text: `update catalogue_bytes set removals = removals - 1, tries = 0, fault = null, due_at = $2, worked_until = null
           where id = $1`,
    values: [id, next],
  });
}

/** They are not gone; tried again then. */
export async function putOff(
  source: Queryable,
  { id, next, fault }: { id: number | bigint; next: Date; fault: string },
): Promise<void> {
  await source.execute({
    name: 'catalogue-bytes-put-off',
    text: `update catalogue_bytes set tries = tries + 1, due_at = $2, fault = $3, worked_until = null where id = $1`,
    values: [id, next, fault],
  });
}

/** How many bytes belong to no file, by what becomes of them; `failing`: the last attempt to remove them failed. */
export async function countBytes(
  source: Queryable,
): Promise<{ state: BytesState | 'failing'; count: number }[]> {
  return source.query({
    name: 'catalogue-bytes-count',
    text: `select case when fault is null then state else 'failing' end as state, count(*)::integer as count
           from catalogue_bytes group by 1`,
    values: [],
  });
}

/** Bytes that are to be removed, with when that is tried next, and why it failed. */
export interface ListedBytes extends RemovedBytes {
  made_at: Date;
  due_at: Date;
  fault: string | null;
}

/** Bytes that are to be removed: the next ones first. */
export async function listRemovals(
  source: Queryable,
  { seId, isFailing, most }: { seId?: number | undefined; isFailing: boolean; most: number },
): Promise<ListedBytes[]> {
  return source.query<ListedBytes>({
    name: 'catalogue-bytes-removals',
    text: `select id, path, se_id, tries, removals, made_at, due_at, fault from catalogue_bytes
           where state = 'removing' and ($1::integer is null or se_id = $1) and (fault is not null or not $2)
           order by due_at, id limit $3`,
    values: [seId ?? null, isFailing, most],
  });
}

/** How many bytes are to be removed at each element, and of how many that has failed. */
export async function countRemovals(
  source: Queryable,
): Promise<{ se_id: number; waiting: number; failing: number }[]> {
  return source.query({
    name: 'catalogue-bytes-removals-count',
    text: `select se_id, count(*)::integer as waiting, count(fault)::integer as failing
           from catalogue_bytes where state = 'removing' group by 1`,
    values: [],
  });
}

/** They stay where they are, and their path is free. False where they are not to be removed, or somebody does it now. */
export async function giveUpRemoval(
  source: Queryable,
  { path, seId, now }: { path: string; seId: number; now: Date },
): Promise<boolean> {
  const count = await source.execute({
    name: 'catalogue-bytes-removal-give-up',
    text: `delete from catalogue_bytes
           where path = $1 and se_id = $2 and state = 'removing' and (worked_until is null or worked_until <= $3)`,
    values: [path, seId, now],
  });
  return count > 0;
}
