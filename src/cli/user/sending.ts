import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, normalize } from 'node:path';
import type { SubmittedJobsResponse } from '#src/client/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import { isForPrograms, type Printing } from '../terminal/output-format.js';
import { progress } from '../terminal/progress.js';
import { unreadable } from '../terminal/reading.js';
import type { GridConnection } from './grid-connection.js';
import type { Manifests } from './manifest-source.js';
import { isFile, type ReadManifest, type TypedFile } from './script/program-file.js';

/** What `submit` and `run` take, beside the options of the job. */
export const PROGRAM_OPTIONS = [
  ['-f, --file <path>', 'input file', { repeated: true }],
  ['-n, --name <name>', 'what to call the job (JobName)'],
  ['-g, --group <name>', 'JobGroup that it belongs to'],
  ['--after <jid[:on]>', 'start after a job: done (default), failed or end', { repeated: true }],
] as const;

/** Files here that arguments and scripts name, and which do not go along. */
export function leftHere(read: readonly ReadManifest[], { manifests, files }: Manifests): string[] {
  const stored = manifests.flatMap(({ InputData }) => InputData ?? []).map(String);
  const sent = new Set([...files, ...stored].map((file) => basename(file)));
  const words = new Set(read.flatMap((one) => (one.words ?? []).map((word) => normalize(word))));
  return [...words]
    .filter((word) => !word.startsWith('/'))
    .filter((word) => isFile(word) && !sent.has(basename(word)))
    .map((word) => {
      const as = word === basename(word) ? '' : ` as ${basename(word)}`;
      return `${word} lies here and does not go along: --file ${word} sends it${as}`;
    });
}

/** Submits the manifests, all or none, with a bar while files go along. */
export async function send(
  grid: GridConnection,
  { manifests, files: paths, typed }: Manifests,
  options: Printing & { isArray?: boolean; dryRun?: true | undefined },
): Promise<SubmittedJobsResponse> {
  const { isArray, dryRun } = options;
  const query = { ...(isArray && { array: true }), ...(dryRun && { dryRun: true }) };
  if (paths.length + typed.length === 0) {
    const [first] = manifests;
    const body = manifests.length === 1 && first ? first : { manifests };
    return grid.client.submitJobs(body, query);
  }
  const files = [...(await Promise.all(paths.map(contentOf))), ...typed];
  const total = files.reduce((sum, { content }) => sum + content.size, 0);
  const form = new FormData();
  for (const manifest of manifests) form.append('manifest', stringifyJson(manifest));
  for (const { name, content } of files) form.append('file', content, name);
  const json = isForPrograms(options);
  const bar = await progress({ title: 'sending', total, isBytes: true, json });
  let sent = 0;
  grid.sent = (bytes) => bar.update((sent += bytes));
  try {
    return await grid.client.submitJobs(form, query);
  } finally {
    bar.stop();
    grid.sent = () => undefined;
  }
}

async function contentOf(path: string): Promise<TypedFile> {
  try {
    if ((await stat(path)).isDirectory()) throw new CommandError(`${path} is a directory`, 2);
    return { name: basename(path), content: await openAsBlob(path) };
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(path, error);
  }
}
