import { join, resolve } from 'node:path';
import { isForPrograms, type Printing, type Shown } from '../terminal/output-format.js';
import { progress, type Progress } from '../terminal/progress.js';
import type { GridConnection } from './grid-connection.js';
import { chosenJobs, eachRead, missingFault } from './job-choice.js';
import type { JobFilter } from './job-filter.js';
import { notesOf } from './output-notes.js';
import { unpack } from './unpack.js';

type OutputOptions = JobFilter & Printing & { directory: string | undefined };

/** Fetches the output of jobs: of one that is named into the directory, of several into one of its id for each. */
export async function fetchOutputs(
  grid: GridConnection,
  named: readonly number[],
  options: OutputOptions,
): Promise<Shown> {
  const { jids, isOne } = await chosenJobs(grid, 'output of', { jids: named, filter: options });
  const notes = (of: number[]): Promise<string[]> =>
    isForPrograms(options) ? Promise.resolve([]) : notesOf(grid, of);
  const [first = 0] = jids;
  if (isOne) {
    const fetched = await fetchOne(grid, first, options);
    const lines = linesOf(fetched);
    return { value: fetched, lines, names: lines, notes: await notes([first]) };
  }
  const outputs: (Fetched & { jid: number })[] = [];
  const json = isForPrograms(options);
  const bar = await progress({ title: 'fetching', total: jids.length, json });
  let missing: Record<number, string>;
  try {
    missing = await eachRead(grid, jids, {
      read: (jid) => {
        const directory = join(options.directory ?? '.', String(jid));
        return fetchOne(grid, jid, { ...options, output: 'json', directory }); // no bar of its own
      },
      take: (jid, fetched) => bar.update(outputs.push({ jid, ...fetched })),
    });
  } finally {
    bar.stop();
  }
  const lines = outputs.flatMap(linesOf);
  return {
    value: { outputs, missing },
    ...{ lines, names: lines, notes: await notes(outputs.map(({ jid }) => jid)) },
    fault: missingFault(missing, jids),
  };
}

interface Fetched {
  directory: string;
  files: string[];
}

function linesOf({ directory, files }: Fetched): string[] {
  return files.map((name) => `${directory}/${name}`);
}

async function fetchOne(
  grid: GridConnection,
  jid: number,
  options: Printing & { directory: string | undefined },
): Promise<Fetched> {
  const path = `/jobs/${jid}/outputsandbox`;
  const { answer } = await grid.client.raw({ method: 'GET', path, answer: 'blob' });
  const total = Number(answer.headers.get('Content-Length') ?? 0);
  const directory = resolve(options.directory ?? String(jid));
  const json = isForPrograms(options);
  const bar = await progress({ title: 'fetching', total, isBytes: true, json });
  try {
    return { directory, files: await unpack(counted(answer, bar), directory) };
  } finally {
    bar.stop();
  }
}

async function* counted(answer: Response, bar: Progress): AsyncGenerator<Uint8Array> {
  let received = 0;
  const body: ReadableStream<Uint8Array> | null = answer.body;
  for await (const chunk of body ?? []) {
    yield chunk;
    bar.update((received += chunk.length));
  }
}
