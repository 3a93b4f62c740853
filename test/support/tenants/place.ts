import { randomUUID } from 'node:crypto';
import { FormData } from 'undici';
import { submit } from '../jobs.js';
import type { CallOptions, Grid, GridClient } from '../testbed.js';

/** Where everything of the matrix lives in the catalogue: owned by alice, closed to everybody else. */
const ROOT = '/vo/tenants';
export const FIELD = 'tenant_mark';
const OWNER_ONLY = 0o700;

/** A call that alice may make, ready to be made by somebody else. */
export interface Call {
  path: string;
  options?: CallOptions;
}

/** What belongs to alice, in group grid_user and setup Prod, for one operation: nothing is shared between operations. */
export interface Place {
  jid: number;
  /** Id of the array that the job is a member of. */
  array: number;
  directory: string;
  file: string;
  /** Id of a webhook, and of its one delivery. */
  webhook: string;
}

/** A path of the catalogue as it stands in a URL. */
export function encoded(path: string): string {
  return Buffer.from(path).toString('base64url');
}

/** Makes a place for each operation: a waiting job with both sandboxes, a directory with a file and a value. */
export async function makePlaces(grid: Grid, names: readonly string[]): Promise<Place[]> {
  const [alice, fred] = [await grid.as('alice'), await grid.as('fred')];
  const field = { kind: 'field', name: FIELD, type: 'string' };
  await bulk(fred, [field, { kind: 'directory', path: ROOT, owner: 'alice', group: 'grid_user' }]);
  const places = names.map((_, index) => {
    const directory = `${ROOT}/d${index}`;
    return { directory, file: `${directory}/f`, webhook: randomUUID() };
  });
  const lines = places.flatMap(({ directory, file }) => [
    { kind: 'directory', path: directory, mode: OWNER_ONLY, metadata: { [FIELD]: directory } },
    { kind: 'file', path: file, size: 10, replicas: [{ se: 'SE-A' }] },
    { kind: 'directory', path: `${directory}/empty`, mode: OWNER_ONLY },
  ]);
  await bulk(alice, [{ kind: 'directory', path: ROOT, mode: OWNER_ONLY }, ...lines]);
  await webhooks(
    grid,
    places.map(({ webhook }) => webhook),
  );
  const jids = await waitingJobs(grid, alice, names.length);
  const arrays = await arraysOf(grid, jids);
  return places.map((place, index) => {
    const jid = jids[index] ?? 0;
    return { ...place, jid, array: arrays.get(jid) ?? 0 };
  });
}

async function waitingJobs(grid: Grid, alice: GridClient, count: number): Promise<number[]> {
  const rest = await submit(alice, Array.from({ length: count - 1 }, manifest));
  const multipart = new FormData();
  multipart.append('manifest', JSON.stringify(manifest()));
  multipart.append('file', new Blob(['of alice']), 'in.txt');
  const { body } = await alice.post<{ jids: number[] }>('/jobs', { multipart });
  const [jid = 0] = body.jids;
  await grid.sql(
    `update jobs set input_sandbox = one.input_sandbox, output_sandbox = one.input_sandbox
     from (select input_sandbox from jobs where jid = $1) one where jid >= $2`,
    [jid, Math.min(...rest)],
  );
  await grid.sql(
    `insert into job_runs (jid, attempt, noted_at, ended_at, setup, vo, owner_group, owner, site, is_done, processors, wall_seconds)
     select jid, 0, now(), now(), setup, vo, owner_group, owner, site, true, 1, 60 from jobs where jid = $1`,
    [jid],
  );
  return [...rest, jid];
}

/** Each job is the one member of an array. */
async function arraysOf(grid: Grid, jids: number[]): Promise<Map<number, number>> {
  await grid.sql(
    `insert into job_arrays (setup, owner, owner_group, vo, name, total, submission_time)
     select setup, owner, owner_group, vo, jid::text, 1, submission_time from jobs where jid = any($1)`,
    [jids],
  );
  const rows = await grid.sql<{ jid: number; id: number }>(
    `update jobs set array_id = a.id from job_arrays a where a.name = jid::text and jid = any($1)
     returning jid, a.id`,
    [jids],
  );
  return new Map(rows.map(({ jid, id }) => [Number(jid), Number(id)]));
}

/** They stand at the end of all events, so that nothing is ever sent to them. */
async function webhooks(grid: Grid, ids: string[]): Promise<void> {
  await grid.sql(
    `insert into webhook (id, user_name, group_name, setup, client_id, scope, url, source, filter, secret,
       position, created_at, updated_at)
     select id::uuid, 'alice', 'grid_user', 'Prod', 'certificate', 'jobs:read webhooks', 'https://127.0.0.1:9/',
       'jobs', '{}', 'plain.' || repeat('A', 44), 1e15, now(), now() from unnest($1::text[]) id`,
    [ids],
  );
  await grid.sql(
    `insert into webhook_delivery (id, webhook_id, type, subject, in_order, body, rights, state, created_at,
       next_attempt, finished_at)
     select id::uuid, id::uuid, 'job.changed', 'job 1', true, '{}',
       '{"owner":"alice","ownerGroup":"grid_user","setup":"Prod","vo":"vo"}', 'delivered', now(), now(), now()
     from unnest($1::text[]) id`,
    [ids],
  );
}

function manifest(): object {
  return { Executable: '/bin/true', JobName: 'of alice' };
}

async function bulk(client: GridClient, lines: object[]): Promise<void> {
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const headers = { 'content-type': 'application/x-ndjson' };
  const answer = await client.post('/filecatalogue/bulk', { body, headers });
  const text = answer.bytes.toString('utf8');
  if (answer.status !== 200 || !text.includes('"failed":0')) throw new Error(text);
}
