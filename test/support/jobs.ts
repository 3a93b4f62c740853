import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { eventually, type GridClient } from './testbed.js';

/** A job as GET /jobs/<jid> shows it, as far as flows look. */
export interface ShownJob {
  jid: number;
  status: string;
  minorStatus: string;
  appStatus: string;
  site: string;
  times: Record<string, string>;
}

const FINAL = ['Done', 'Failed', 'Killed', 'Deleted'];

/** Submits manifests in one request; answers the ids in order. */
export async function submit(client: GridClient, manifests: object[]): Promise<number[]> {
  const answer = await client.post<{ jids: number[] }>('/jobs', { json: { manifests } });
  if (answer.status !== 200) throw new Error(`submit: ${answer.bytes.toString('utf8')}`);
  return answer.body.jids;
}

const ACKNOWLEDGED_MS = 60_000;
const AGAIN_MS = 50;
const PASSING = [409, 503];

/** As clients do where a service may go away: again with the same key until it is acknowledged, by whichever client is next. */
export async function submitUntilAcknowledged(
  next: () => GridClient,
  manifests: object[],
  key: string,
): Promise<number[]> {
  const deadline = Date.now() + ACKNOWLEDGED_MS;
  while (Date.now() < deadline) {
    const answer = await next()
      .post<{ jids: number[] }>('/jobs', {
        json: { manifests },
        headers: { 'idempotency-key': key },
      })
      .catch(() => undefined);
    if (answer?.status === 200) return answer.body.jids;
    if (answer && !PASSING.includes(answer.status)) {
      throw new Error(`submit: ${answer.bytes.toString('utf8')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  throw new Error(`no submit was acknowledged within ${ACKNOWLEDGED_MS} ms`);
}

/** One job. */
export async function show(client: GridClient, jid: number): Promise<ShownJob> {
  const answer = await client.get<ShownJob>(`/jobs/${jid}`);
  if (answer.status !== 200) throw new Error(`job ${jid}: ${answer.bytes.toString('utf8')}`);
  return answer.body;
}

/** Waits until a job is in one of the states; fails at once when it has ended in another one. */
export async function awaitStatus(
  client: GridClient,
  jid: number,
  states: readonly string[],
  milliseconds = 60_000,
): Promise<ShownJob> {
  return eventually(
    async () => {
      const job = await show(client, jid);
      if (states.includes(job.status)) return job;
      if (FINAL.includes(job.status)) throw new Error(`ended as ${JSON.stringify(job)}`);
      return undefined;
    },
    `job ${jid} to be ${states.join(' or ')}`,
    milliseconds,
  );
}

/** Waits until all jobs have ended; answers them in the order of their ids. */
export async function awaitFinal(
  client: GridClient,
  jids: readonly number[],
  milliseconds = 120_000,
): Promise<ShownJob[]> {
  const query = { maxJobs: 1000, status: FINAL };
  return eventually(
    async () => {
      const answer = await client.get<{ jobs: ShownJob[] }>('/jobs', { query });
      const ended = new Map(answer.body.jobs.map((job) => [job.jid, job]));
      const jobs = jids.map((jid) => ended.get(jid));
      return jobs.every((job) => job !== undefined) ? jobs : undefined;
    },
    `${jids.length} jobs to end`,
    milliseconds,
  );
}

/** The parameters of a job. */
export async function parametersOf(
  client: GridClient,
  jid: number,
): Promise<Record<string, unknown>> {
  return (await client.get<Record<string, unknown>>(`/jobs/${jid}/parameters`)).body;
}

/** The states that a job has passed. */
export async function pastOf(client: GridClient, jid: number): Promise<string[]> {
  const answer = await client.get<{ history: { status: string }[] }>(`/jobs/${jid}/history`);
  return answer.body.history.map(({ status }) => status);
}

/** Files of a sandbox by name, as text. */
export async function sandboxOf(
  client: GridClient,
  jid: number,
  kind: 'input' | 'output' = 'output',
): Promise<Record<string, string>> {
  const answer = await client.get(`/jobs/${jid}/${kind}sandbox`);
  if (answer.status !== 200) throw new Error(`sandbox: ${answer.bytes.toString('utf8')}`);
  return unpack(answer.bytes);
}

/** Files of a tar.gz by name, as text. */
export async function unpack(archive: Buffer): Promise<Record<string, string>> {
  const untar = extract();
  untar.end(gunzipSync(archive));
  const files: Record<string, string> = {};
  for await (const entry of untar) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    files[entry.header.name] = Buffer.concat(chunks).toString('utf8');
  }
  return files;
}
