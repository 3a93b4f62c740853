import { Command } from 'commander';
import {
  encodePath,
  type Conditions,
  type DirectoryContentsResponse,
  type FileAttributesResponse,
  type FoundDirectory,
} from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { emit, emitName, jsonText, table } from '../terminal/output.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import type { GridConnection } from './grid-connection.js';
import { withConnection } from './with-connection.js';

/** Operators that are written otherwise on the wire, by the field's type. */
const WIRE_OPERATORS: Record<string, Record<string, string>> = {
  string: { '=': 'in', '!=': 'nin' },
};
const CONDITION = /^([^<>=!\s]+)\s*(<=|>=|!=|<|>|=)\s*(\S.*)?$/s;

/** `ls` and `find`. */
export function catalogueCommands(): Command[] {
  const ls = new Command('ls')
    .description('contents of a directory of the catalogue')
    .argument('[path]', 'directory', '/')
    .option('-l, --long', 'with owner, mode, size and date')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((path: string, options: Printing & { long?: boolean }) =>
      withConnection((grid) => list(grid, path, options)),
    );
  const find = new Command('find')
    .description("directories by metadata, for example: find /vo 'energy>100' particle=e,mu")
    .argument('[words...]', 'a start directory (/ by default) and conditions')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((words: string[], options: Printing) =>
      withConnection((grid) => search(grid, words, options)),
    );
  return [ls, find];
}

async function list(
  grid: GridConnection,
  path: string,
  options: Printing & { long?: boolean },
): Promise<void> {
  const verbose = options.long === true || options.output === 'wide';
  const answer = await grid.client.listDirectory(encodePath(path), { ...(verbose && { verbose }) });
  const { SubDirs: directories, Files: files } = answer;
  const names = [...Object.keys(directories).map((name) => `${name}/`), ...Object.keys(files)];
  const isLong = options.long === true || options.output === 'wide';
  await show(options, answer, () => (isLong ? longListing(directories, files) : names), names);
}

function longListing(
  directories: DirectoryContentsResponse['SubDirs'],
  files: DirectoryContentsResponse['Files'],
): string[] {
  const rows = [
    ...Object.entries(directories).map(([name, entry]) =>
      row(`${name}/`, typeof entry === 'boolean' ? {} : entry),
    ),
    ...Object.entries(files).map(([name, { MetaData }]) => row(name, MetaData)),
  ];
  return table(['MODE', 'OWNER', 'GROUP', 'SIZE', 'MODIFIED', 'NAME'], rows);
}

function row(name: string, entry: Partial<FileAttributesResponse>): string[] {
  const { Mode, Owner = '', OwnerGroup = '', Size = '', ModificationDate = '' } = entry;
  const mode = Mode === undefined ? '' : Mode.toString(8);
  return [mode, Owner, OwnerGroup, String(Size), ModificationDate.slice(0, 19), name];
}

async function search(grid: GridConnection, words: string[], options: Printing): Promise<void> {
  const isPath = words[0]?.startsWith('/') ?? false;
  const path = isPath ? (words[0] ?? '/') : '/';
  const conditions = isPath ? words.slice(1) : words;
  const all: FoundDirectory[] = [];
  for await (const found of grid.client.findDirectories(
    path,
    await conditionsOf(grid, conditions),
  )) {
    // a line each as they come, for there may be a million
    if (options.output === 'json') emit(jsonText(found));
    else if (options.output === 'name') emitName(found.path);
    else all.push(found);
  }
  if (options.output === 'json' || options.output === 'name') return;
  await present(options, {
    value: { directories: all },
    heading: ['FILES', 'BYTES', 'DIRECTORY'],
    rows: all.map(({ files, size, path: name }) => [String(files), String(size), name]),
    names: [],
  });
}

/** `energy>100` → `energy: ['>|100']`; what `=` means depends on the field's type. */
async function conditionsOf(grid: GridConnection, words: string[]): Promise<Conditions> {
  const conditions: Record<string, string[]> = {};
  if (words.length === 0) return conditions;
  const fields = await grid.client.readMetadata({ maxValues: 1 });
  for (const word of words) {
    const [, name = '', operator = '', operand = ''] = CONDITION.exec(word) ?? [];
    if (name === '') throw new CommandError(`${word} is no condition such as 'energy>100'`, 2);
    const wire = WIRE_OPERATORS[fields[name]?.type ?? '']?.[operator] ?? operator;
    if (fields[name]?.type === 'string' && !wire.endsWith('in')) {
      throw new CommandError(`${name} is a text: only = and != are possible`, 2);
    }
    (conditions[name] ??= []).push(`${wire}|${operand}`);
  }
  return conditions;
}
