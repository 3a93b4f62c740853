import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import {
  encodePath,
  type Conditions,
  type DirectoryContentsResponse,
  type FileAttributesResponse,
  type FoundDirectory,
} from '#src/client/index.js';
import { EncodingError, parseJson, utf8Text } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import { isForPrograms, listOf, type Printing, type Shown } from '../terminal/output-format.js';
import { emit, emitName, jsonText, tell } from '../terminal/output.js';
import { sourceName } from '../terminal/reading.js';
import type { GridConnection } from './grid-connection.js';
import { onGrid } from './on-grid.js';

/** Operators that are written otherwise on the wire, by the field's type. */
const WIRE_OPERATORS: Record<string, Record<string, string>> = {
  string: { '=': 'in', '!=': 'nin' },
};
const CONDITION = /^([^<>=!\s]+)\s*(<=|>=|!=|<|>|=)\s*(\S.*)?$/s;
/** Of one call: the service takes 10,000 paths, and a MiB unless it is set up otherwise. */
const MOST_PATHS = 10_000;
const MOST_CHARACTERS = 128 * 1024;

/** `ls` and `find`, which stand below `catalogue`, too. */
export const searchCommands: Command[] = [
  onGrid('ls', 'contents of a directory of the catalogue', {
    args: [['[path]', 'directory', '/']],
    options: [['-l, --long', 'with owner, mode, size and date']],
    show: list,
  }),
  onGrid(
    'find',
    "directories by metadata, not by that of single files: find /vo 'energy>100' particle=e,mu",
    {
      args: [['[words...]', 'a start directory (/ by default) and conditions']],
      show: search,
    },
  ),
];

/** `lookup`. */
export const lookupCommand = onGrid(
  'lookup',
  'attributes of many files, by paths that stand in files',
  {
    args: [['[files...]', 'files with a path on each line; - or none for standard input']],
    show: lookUp,
  },
);

async function list(
  { client }: GridConnection,
  path: string,
  { long, output }: Printing & { long: true | undefined },
): Promise<Shown> {
  const verbose = long === true || output === 'wide';
  const value = await client.listDirectory(encodePath(path), { ...(verbose && { verbose }) });
  const entries = entriesOf(value);
  const names = entries.map(([name]) => name);
  if (!verbose) return { value, lines: names, names };
  const shown = listOf(value, entries, {
    MODE: ([, { Mode }]) => Mode?.toString(8),
    OWNER: ([, { Owner }]) => Owner,
    GROUP: ([, { OwnerGroup }]) => OwnerGroup,
    SIZE: ([, { Size }]) => Size,
    MODIFIED: ([, { ModificationDate }]) => ModificationDate?.slice(0, 19),
    NAME: ([name]) => name,
  });
  return { ...shown, names };
}

function entriesOf({
  SubDirs,
  Files,
}: DirectoryContentsResponse): [string, Partial<FileAttributesResponse>][] {
  return [
    ...Object.entries(SubDirs).map(([name, entry]): [string, Partial<FileAttributesResponse>] => [
      `${name}/`,
      entry === true ? {} : entry,
    ]),
    ...Object.entries(Files).map(([name, { MetaData }]): [string, FileAttributesResponse] => [
      name,
      MetaData,
    ]),
  ];
}

async function search(
  grid: GridConnection,
  words: string[],
  options: Printing,
): Promise<Shown | undefined> {
  const isPath = words[0]?.startsWith('/') ?? false;
  const path = isPath ? (words[0] ?? '/') : '/';
  const wanted = isPath ? words.slice(1) : words;
  const conditions = await conditionsOf(grid, wanted);
  const directories: FoundDirectory[] = [];
  let isFound = false;
  for await (const found of grid.client.findDirectories(path, conditions)) {
    isFound = true;
    if (!printedAlone(options, found, found.path)) directories.push(found);
  }
  const nothing = isFound ? [] : [nothingFound(path, wanted)];
  if (isPrintedAlone(options)) {
    nothing.forEach(tell);
    return undefined;
  }
  const shown = listOf({ directories }, directories, {
    ...{ FILES: 'files', BYTES: 'size', DIRECTORY: 'path' },
  });
  return { ...shown, notes: [...nothing, ...overlapOf(directories)] };
}

function nothingFound(path: string, conditions: readonly string[]): string {
  if (conditions.length === 0) return `no directory below ${path}`;
  const own = 'metadata that files have of their own is not searched: set it at their directory';
  return `no directory below ${path} has ${conditions.join(' ')} (${own})`;
}

/** What all directories have together, where one lies in another, whose row counts it, too. */
function overlapOf(directories: readonly FoundDirectory[]): string[] {
  const found = new Set(directories.map(({ path }) => path));
  const isInside = (path: string): boolean => {
    if (path === '/') return false;
    const above = path.slice(0, path.lastIndexOf('/')) || '/';
    return found.has(above) || isInside(above);
  };
  const outer = directories.filter(({ path }) => !isInside(path));
  if (outer.length === directories.length) return [];
  const sum = (of: 'files' | 'size'): bigint =>
    outer.reduce((total, one) => total + BigInt(one[of]), 0n);
  const text = `a row counts the rows below it, too: together ${sum('files')} files of ${sum('size')} bytes`;
  return [text];
}

/** For JSON and names a line each is printed as it comes, for there may be a million. */
function isPrintedAlone({ output }: Printing): boolean {
  return isForPrograms({ output }) && output !== 'yaml';
}

function printedAlone(options: Printing, value: unknown, name: string | undefined): boolean {
  if (!isPrintedAlone(options)) return false;
  if (options.output === 'json') emit(jsonText(value));
  else if (name !== undefined) emitName(name);
  return true;
}

/** `energy>100` → `energy: ['>|100']`; what `=` means depends on the field's type. */
async function conditionsOf({ client }: GridConnection, words: string[]): Promise<Conditions> {
  const conditions: Record<string, string[]> = {};
  if (words.length === 0) return conditions;
  const fields = await client.readMetadata({ maxValues: 1 });
  for (const word of words) {
    const [, name = '', operator = '', operand = ''] = CONDITION.exec(word) ?? [];
    if (name === '') {
      throw new CommandError(`${word} is no condition`, 2, "give one such as 'energy>100'");
    }
    const wire = WIRE_OPERATORS[fields[name]?.type ?? '']?.[operator] ?? operator;
    if (fields[name]?.type === 'string' && !wire.endsWith('in')) {
      throw new CommandError(`${name} is a text`, 2, 'compare it by = or !=');
    }
    (conditions[name] ??= []).push(`${wire}|${operand}`);
  }
  return conditions;
}

interface Found {
  path: string;
  attributes?: FileAttributesResponse;
  error?: { status: number; code: string; detail: string };
}

async function lookUp(
  grid: GridConnection,
  files: string[],
  options: Printing,
): Promise<Shown | undefined> {
  const found: Found[] = [];
  let asked = 0;
  let missing = 0;
  for await (const paths of batches(files.length === 0 ? ['-'] : files)) {
    const answer = await grid.client.lookUpFiles({ paths });
    const lines = (await answer.text()).split('\n').filter((line) => line !== '');
    asked += lines.length;
    for (const line of lines) {
      const one = parseJson(line) as unknown as Found;
      const { path, attributes, error } = one;
      if (error) missing += 1;
      if (error && options.output !== 'json') tell(`${path}: ${error.detail}`);
      if (printedAlone(options, one, attributes && path)) continue;
      if (attributes) found.push({ path, attributes });
    }
  }
  const fault = missing > 0 && new CommandError(`${missing} of ${asked} paths have no answer`);
  if (fault && isPrintedAlone(options)) throw fault;
  if (isPrintedAlone(options)) return undefined;
  const shown = listOf({ files: found }, found, {
    SIZE: ({ attributes }) => attributes?.Size,
    CHECKSUM: ({ attributes }) => attributes?.Checksum,
    OWNER: ({ attributes }) => attributes?.Owner,
    PATH: 'path',
  });
  return { ...shown, fault };
}

/** The paths of all files, as many at once as one call takes. */
async function* batches(files: readonly string[]): AsyncGenerator<string[]> {
  let paths: string[] = [];
  let characters = 0;
  for (const file of files) {
    for await (const line of linesOf(file)) {
      if (line === '') continue;
      if (paths.length === MOST_PATHS || characters + line.length > MOST_CHARACTERS) {
        yield paths;
        paths = [];
        characters = 0;
      }
      paths.push(line);
      characters += line.length;
    }
  }
  if (paths.length > 0) yield paths;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  let number = 0;
  try {
    for await (const line of byteLinesOf(file)) {
      yield utf8Text(Buffer.from(line, 'latin1'), (number += 1));
    }
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    throw new CommandError(`${sourceName(file)}: ${error.message}`, 2);
  }
}

/** Lines whose characters are bytes: as Latin-1 none is lost. */
async function* byteLinesOf(file: string): AsyncGenerator<string> {
  if (file === '-') {
    const input = process.stdin.setEncoding('latin1');
    yield* createInterface({ input, crlfDelay: Infinity });
    return;
  }
  try {
    const opened = await open(file);
    try {
      yield* opened.readLines({ encoding: 'latin1' });
    } finally {
      await opened.close().catch(() => undefined);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CommandError(code === 'ENOENT' ? `no such file: ${file}` : message, 2);
  }
}
