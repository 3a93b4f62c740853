import { GridError, type GridClient, type JobResponse } from 'gridgate/client';
import { csvText } from '../../parts/csv-text.js';
import { isFinal } from '../../parts/states.js';
import { forEach } from '../../parts/work.js';
import { allJobs } from '../jobs/export.js';

/** What of an output goes into a cell of the table. */
const MOST_BYTES = 20_000;
const NO_BEGIN = 416;

/** What a member was run with, by the keys in which members differ. */
export type Values = (jobs: readonly JobResponse[]) => Promise<[key: string, values: string[]][]>;

/**
 * All members of an array with what they were run with and what they have printed, for a spreadsheet; of how many it could not be
 * read, and of how many only the begin is there, with … behind it.
 */
export async function outputsCsv(
  { client, id, signal }: { client: GridClient; id: number; signal: AbortSignal },
  valuesOf: Values,
  onStep: (read: number, of: number) => void,
): Promise<{ table: Blob; unread: number; cut: number }> {
  let cut = 0;
  const jobs = await allJobs(client, { arrayId: [id], allOwners: true, sort: 'jid' }, signal);
  const varied = await valuesOf(jobs);
  const printed = new Map<number, string>();
  const ended = jobs.filter(({ status, flags }) => isFinal(status) && flags.outputSandboxReady);
  const read = async ({ jid }: JobResponse): Promise<void> => {
    const headers = { Range: `bytes=0-${MOST_BYTES}` };
    try {
      const content = await client.readJobOutput(jid, 'std.out', {}, { signal, headers });
      const isCut = content.size > MOST_BYTES;
      const text = await content.slice(0, MOST_BYTES).text();
      if (isCut) cut += 1;
      printed.set(jid, isCut ? `${text}…` : text.trimEnd());
    } catch (error) {
      if (!(error instanceof GridError) || error.status !== NO_BEGIN) throw error;
      printed.set(jid, ''); // an empty file has no first byte
    }
  };
  const { refused } = await forEach(ended, read, (done) => onStep(done, ended.length));
  signal.throwIfAborted();
  const rows = jobs.map(({ jid, status }, index) => [
    jid,
    ...varied.map(([, values]) => values[index]),
    status,
    printed.get(jid),
  ]);
  const heads = ['job', ...varied.map(([key]) => key), 'status', 'std.out'];
  return { table: csvText([heads, ...rows]), unread: refused.length, cut };
}
