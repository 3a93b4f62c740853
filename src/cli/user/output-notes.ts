import pLimit from 'p-limit';
import type { GridConnection } from './grid-connection.js';

/** Jobs of which it is told what is not among their files: a request for each. */
const MOST = 20;
const AT_ONCE = 8;

type Note = readonly [parameter: string, text: (names: string) => string];

/** Parameters of a job that tell what is not among its files. */
const NOTES: readonly Note[] = [
  ['UploadedOutputData', (names) => `in the catalogue: ${names}`],
  ['MissingOutput', (names) => `asked for, and was not made: ${names}`],
  ['OutputLeftOut', (names) => `asked for, and could not be kept: ${names}`],
  ['OutputNotRequested', notRequested],
];

function notRequested(names: string): string {
  const isOne = !/, | and \d+ more$/.test(names);
  const keeps = isOne
    ? `\`--output-file ${/^[\w.+@/-]+$/.test(names) ? names : `'${names}'`}\` keeps it`
    : '`--output-file NAME` keeps one of them, `--output-file .` all';
  return `made, and not brought back: ${names} (gone with the job); ${keeps}`;
}

/** What is to be told of jobs that have ended, each thing once; of more than MOST jobs, that they were not asked. */
export async function notesOf(
  { client }: GridConnection,
  jids: readonly number[],
): Promise<string[]> {
  if (jids.length > MOST) {
    return [
      `of ${jids.length} jobs it is not told what was not brought back: \`gridgate output JID\` tells it of one`,
    ];
  }
  const toldOf = new Map<string, number[]>();
  const all = await pLimit(AT_ONCE).map([...jids], (jid) => client.getJobParameters(jid));
  for (const [index, parameters] of all.entries()) {
    for (const [name, textOf] of NOTES) {
      if (parameters[name] === undefined) continue;
      const text = textOf(String(parameters[name]));
      toldOf.set(text, [...(toldOf.get(text) ?? []), jids[index] ?? 0]);
    }
  }
  return [...toldOf].map(([text, of]) => (jids.length === 1 ? text : `${of.join(', ')}: ${text}`));
}
