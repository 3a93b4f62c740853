import { randomUUID } from 'node:crypto';
import { FormData } from 'undici';
import { submit } from '../jobs.js';
import type { Grid, GridClient } from '../testbed.js';
import { encoded } from './place.js';
import { STRANGER } from './registry.js';

/** What is in every name of the stranger's virtual organisation, and in no other name. */
export const MARK = /zq7-[\w-]*/gi;

/** What the stranger has, by id or path: nobody of another virtual organisation may learn of it. */
export interface StrangerData {
  jids: number[];
  array: number;
  webhook: string;
  directory: string;
  file: string;
}

/** Jobs in several states with sandboxes, an array, conditions, usage and shares; a webhook with a delivery; a part of the catalogue. */
export async function makeStrangerData(grid: Grid, stranger: GridClient): Promise<StrangerData> {
  const { jids, array } = await makeJobs(stranger);
  await grid.sql(
    `update jobs set app_status = 'zq7-application', job_type = 'zq7-type', output_sandbox = input_sandbox where owner = $1`,
    [STRANGER.user],
  );
  await grid.sql(
    `update jobs set status = 'Done', minor_status = 'zq7-minor', last_update = now() where jid = $1`,
    [jids[0]],
  );
  await makeUse(grid);
  return { jids, array, webhook: await makeWebhook(grid), ...(await makeFiles(grid)) };
}

async function makeJobs(stranger: GridClient): Promise<Pick<StrangerData, 'jids' | 'array'>> {
  const manifest = {
    ...{ Executable: '/zq7-program', Arguments: 'zq7-argument', JobName: 'zq7-job' },
    ...{ JobGroup: 'zq7-jobgroup', OutputSandbox: ['zq7-out.txt'], OutputData: ['zq7-data'] },
  };
  const multipart = new FormData();
  multipart.append('manifest', JSON.stringify(manifest));
  multipart.append('file', new Blob(['zq7-content']), 'zq7-in.txt');
  const { body } = await stranger.post<{ jids: number[] }>('/jobs', { multipart });
  const [first = 0] = body.jids;
  const others = await submit(stranger, [
    manifest,
    { ...manifest, After: [{ jid: first, on: 'failed' }] },
  ]);
  const json = { ...manifest, Parameters: 2, array: true };
  const made = await stranger.post<{ jids: number[]; arrayId: number }>('/jobs', { json });
  if (made.status !== 200) throw new Error(made.bytes.toString('utf8'));
  return { jids: [first, ...others, ...made.body.jids], array: made.body.arrayId };
}

async function makeUse(grid: Grid): Promise<void> {
  await grid.sql(
    `insert into job_runs (jid, attempt, noted_at, ended_at, setup, vo, owner_group, owner, site, is_done, processors, wall_seconds)
     select jid, 0, now(), now(), setup, vo, owner_group, owner, 'LOCAL.demo', true, 1, 60 from jobs where owner = $1`,
    [STRANGER.user],
  );
  await grid.sql(
    `insert into job_shares (owner_group, owner, used, held, running, as_of) values ($1, $2, 1000, 0, 0, now())
     on conflict do nothing`,
    [STRANGER.group, STRANGER.user],
  );
}

async function makeWebhook(grid: Grid): Promise<string> {
  const id = randomUUID();
  const { user, group, vo } = STRANGER;
  await grid.sql(
    `insert into webhook (id, user_name, group_name, setup, client_id, scope, url, source, filter, secret,
       position, created_at, updated_at)
     values ($1, $2, $3, 'Prod', 'certificate', 'jobs:read webhooks', 'https://zq7-receiver.example/',
       'jobs', '{}', 'plain.' || repeat('A', 44), 1e15, now(), now())`,
    [id, user, group],
  );
  await grid.sql(
    `insert into webhook_delivery (id, webhook_id, type, subject, in_order, body, rights, state, created_at,
       next_attempt, finished_at)
     values ($1, $1, 'job.changed', 'job 1', true, '{"note":"zq7-delivery"}', $2, 'delivered', now(), now(), now())`,
    [id, JSON.stringify({ owner: user, ownerGroup: group, setup: 'Prod', vo })],
  );
  return id;
}

async function makeFiles(grid: Grid): Promise<Pick<StrangerData, 'directory' | 'file'>> {
  const directory = `/${STRANGER.vo}/zq7-directory`;
  const file = `${directory}/zq7-file`;
  const of = { owner: STRANGER.user, group: STRANGER.group };
  const lines = [
    { kind: 'directory', path: `/${STRANGER.vo}`, ...of },
    { kind: 'directory', path: directory, ...of },
    { kind: 'file', path: file, size: 7, ...of, metadata: { note: 'zq7-value' } },
  ];
  const answer = await (
    await grid.as('fred')
  ).post<string>('/filecatalogue/bulk', {
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  });
  if (!answer.body.includes('"failed":0')) throw new Error(answer.body);
  return { directory: encoded(directory), file: encoded(file) };
}
