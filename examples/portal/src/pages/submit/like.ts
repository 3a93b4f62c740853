import { parseJson, type GridClient, type ManifestRequest } from 'gridgate/client';
import { plural } from '../../parts/format.js';
import { listed, namesText, quoted } from '../../parts/words.js';
import type { DraftContent, NamedFile } from '../submit-draft.js';
import type { Resources } from './resources.js';

/** So many names the service writes into a parameter, and then how many there are more. */
const MOST_NAMES = 100;
const LARGEST_MANIFEST = 1_000_000;
/** Keys that the service writes, or that the form has in other ways. */
const SILENT: ReadonlySet<string> = new Set([
  ...['Executable', 'JobName', 'StdOutput', 'StdError', 'InputSandbox', 'InputDataPolicy'],
  ...['Owner', 'OwnerGroup', 'OwnerDN', 'VirtualOrganization', 'Setup'],
]);
const USUAL: Record<string, unknown> = { JobType: 'User', Priority: 1, CPUTime: 86_400 };
const NO_GROUP = '00000000';

/** What the form is to hold for another job like this one, and what is to be said of it. */
export interface Likeness {
  content: DraftContent;
  notes: string[];
}

/** Manifest and input files of a job; with `bring` its files to bring back have those that it has made besides. */
export async function likeJob(
  client: GridClient,
  { jid, bring }: { jid: number; bring: boolean },
  resources: Resources,
  signal: AbortSignal,
): Promise<Likeness> {
  const [{ flags }, manifest, parameters] = await Promise.all([
    client.getJob(jid, { signal }),
    client.getJobManifest(jid, { signal }),
    bring ? client.getJobParameters(jid, { signal }) : undefined,
  ]);
  const files = flags.inputSandboxReady ? await filesOf(client, jid, signal) : [];
  const made = parameters?.['OutputNotRequested'];
  const like = contentOf(manifest, resources);
  const { content, notes } = withMade(jid, { ...like, files }, String(made ?? ''));
  return { content, notes: [...notes, ...leftOf(like.rest, `job ${jid}`)] };
}

/** The same of a manifest that somebody has as a file, which has no files of its own. */
export function likeManifest(
  manifest: ManifestRequest,
  resources: Resources,
  name: string,
): Likeness {
  const { outputs, ...like } = contentOf(manifest, resources);
  const fields = { ...like.fields, output: namesText(outputs) };
  const sent = listed(manifest.InputSandbox ?? []).filter((file) => !/^LFN:/i.test(file));
  const files =
    sent.length > 0 && `${name} names input files, which have to be added: ${sent.join(', ')}`;
  const isHeld = manifest.Hold === true && `${name} is to be held: press Submit and hold.`;
  const said = [files, isHeld].filter((note) => note !== false);
  const notes = [...said, ...leftOf(like.rest, name)];
  return { content: { ...like, fields, files: [] }, notes };
}

/** The manifest that a file is; undefined when it is none. */
export async function descriptionIn({
  name,
  content,
}: NamedFile): Promise<ManifestRequest | undefined> {
  if (!/\.json$/i.test(name) || content.size > LARGEST_MANIFEST) return undefined;
  try {
    const whole: unknown = parseJson(await content.text());
    // `gridgate describe -o json` prints a job with its manifest
    const value = isObject(whole) && 'job' in whole && 'manifest' in whole ? whole.manifest : whole;
    if (!isObject(value) || !('Executable' in value)) return undefined;
    return typeof value.Executable === 'string' ? (value as ManifestRequest) : undefined;
  } catch {
    return undefined; // it is a file like any other
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What goes along without a field that shows it. */
function leftOf(rest: Partial<ManifestRequest>, of: string): string[] {
  const names = Object.entries(rest).flatMap(([name, value]) =>
    SILENT.has(name) || USUAL[name] === value ? [] : [name],
  );
  if (names.length === 0) return [];
  return [`Sent as ${of} has it, without a field here: ${names.join(', ')}`];
}

/** The fields of a manifest. */
function contentOf(
  manifest: ManifestRequest & { Site?: string | string[] },
  resources: Resources,
): Omit<DraftContent, 'files'> & { outputs: string[] } {
  const { Arguments: value, OutputSandbox: output = [], Site: site = [], ...others } = manifest;
  const {
    After: conditions = [],
    Sites: sites = site,
    JobGroup: group = NO_GROUP,
    ...further
  } = others;
  const { given, rest } = resources.take(further);
  const after = conditions.flatMap(({ jid, on = 'done' }) => (on === 'done' ? (jid ?? []) : []));
  const left = conditions.filter(({ jid, on = 'done' }) => on !== 'done' || jid === undefined);
  const text = Array.isArray(value) ? value.map(quoted).join(' ') : (value ?? '');
  const own = new Set([manifest.StdOutput ?? 'std.out', manifest.StdError ?? 'std.err']);
  const shown = Object.entries(given).map(([id, one]): [string, string] => [id, one.text]);
  return {
    fields: {
      ...Object.fromEntries<string>(shown),
      name: manifest.JobName ?? '',
      group: group === NO_GROUP ? '' : group,
      executable: manifest.Executable ?? '',
      arguments: text,
      sites: listed(sites)
        .filter((name) => name !== 'ANY')
        .join(' '),
      after: after.join(' '),
    },
    outputs: outputsOf(output).filter((name) => !own.has(name)),
    rest: { ...without(rest, 'JobID', 'Hold'), ...(left.length > 0 && { After: left }) },
    given: { ...given, ...(value !== undefined && { arguments: { text, value } }) },
  };
}

/** Names may have blanks; in one text a comma separates. */
function outputsOf(output: string | string[]): string[] {
  const names = typeof output === 'string' ? output.split(',').map((name) => name.trim()) : output;
  return names.filter((name) => name !== '');
}

function withMade(
  jid: number,
  { outputs, ...content }: DraftContent & { outputs: string[] },
  made: string,
): Likeness {
  const { names, more } = made === '' ? { names: [], more: 0 } : listedNames(made);
  const nameless = names.filter((name) => name.includes('\\'));
  const all = [...new Set([...outputs, ...names.filter((name) => !nameless.includes(name))])];
  const notes = [
    names.length > nameless.length &&
      `Files to bring back has what job ${jid} made and did not bring back. Submit runs it again.`,
    more > 0 &&
      `The list of job ${jid} was cut: ${plural(more, 'file')} more it does not name. A pattern such as *.svg brings these, too, or . for everything.`,
    nameless.length > 0 && `No manifest can name, so they are not there: ${nameless.join(', ')}`,
  ];
  const fields = { ...content.fields, output: namesText(all) };
  return {
    content: { ...content, fields },
    notes: notes.filter((note) => note !== false),
  };
}

/** The names of a parameter that lists files, and how many it leaves out. */
function listedNames(text: string): { names: string[]; more: number } {
  const [, begin = '', more = ''] = /^(.*) and (\d+) more$/s.exec(text) ?? [];
  const first = begin.split(', ');
  // Below that it is the end of a name.
  const isCut = first.length >= MOST_NAMES;
  return isCut ? { names: first, more: Number(more) } : { names: text.split(', '), more: 0 };
}

async function filesOf(client: GridClient, jid: number, signal: AbortSignal): Promise<NamedFile[]> {
  const { files } = await client.listInputSandbox(jid, { signal });
  const reads = files.map(async ({ name }) => ({
    name,
    content: await client.readInputSandboxFile(jid, name, { signal }),
  }));
  return Promise.all(reads);
}

function without(manifest: Partial<ManifestRequest>, ...names: string[]): Partial<ManifestRequest> {
  return Object.fromEntries(Object.entries(manifest).filter(([key]) => !names.includes(key)));
}
