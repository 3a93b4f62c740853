import { Command } from 'commander';
import {
  encodeBase64UrlText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '#src/kernel/index.js';
import { CommandError } from '../command-error.js';
import { say, show, table, textOf } from '../output.js';
import { withConnection, type GridConnection } from './grid-connection.js';

const CONDITION = /^([^<>=!\s]+)\s*(<=|>=|!=|<|>|=)\s*(.*)$/s;

/** `ls` and `find`. */
export function catalogueCommands(): Command[] {
  const ls = new Command('ls')
    .description('contents of a directory of the catalogue')
    .argument('[path]', 'directory', '/')
    .option('-l, --long', 'with owner, mode, size and date')
    .option('--json', 'print JSON')
    .action((path: string, options: { long?: boolean; json?: boolean }) =>
      withConnection((grid) => list(grid, path, options)),
    );
  const find = new Command('find')
    .description("directories by metadata, for example: find /vo 'energy>100' particle=e,mu")
    .argument('[words...]', 'a start directory (/ by default) and conditions')
    .option('--json', 'print JSON')
    .action((words: string[], options: { json?: boolean }) =>
      withConnection((grid) => search(grid, words, options)),
    );
  return [ls, find];
}

async function list(
  grid: GridConnection,
  path: string,
  options: { long?: boolean; json?: boolean },
): Promise<void> {
  const answer = await grid.get(`/filecatalogue/directory/${encodeBase64UrlText(path)}`, {
    ...(options.long && { verbose: true }),
  });
  const directories = answer['SubDirs'] as JsonObject;
  const files = answer['Files'] as JsonObject;
  show(options.json, answer, () =>
    options.long
      ? longListing(directories, files)
      : [...Object.keys(directories).map((name) => `${name}/`), ...Object.keys(files)],
  );
}

function longListing(directories: JsonObject, files: JsonObject): string[] {
  const rows = [
    ...Object.entries(directories).map(([name, entry]) => row(`${name}/`, entry)),
    ...Object.entries(files).map(([name, entry]) =>
      row(name, isJsonObject(entry) ? (entry['MetaData'] ?? {}) : {}),
    ),
  ];
  return table(['MODE', 'OWNER', 'GROUP', 'SIZE', 'MODIFIED', 'NAME'], rows);
}

function row(name: string, entry: JsonValue): string[] {
  const value = isJsonObject(entry) ? entry : {};
  const cell = (key: string): string => textOf(value[key]);
  const mode = value['Mode'] === undefined ? '' : Number(value['Mode']).toString(8);
  const date = cell('ModificationDate').slice(0, 19);
  return [mode, cell('Owner'), cell('OwnerGroup'), cell('Size'), date, name];
}

async function search(
  grid: GridConnection,
  words: string[],
  options: { json?: boolean },
): Promise<void> {
  const isPath = words[0]?.startsWith('/') ?? false;
  const path = isPath ? (words[0] ?? '/') : '/';
  const conditions = isPath ? words.slice(1) : words;
  const params = await conditionsOf(grid, conditions);
  const route = `/filecatalogue/directory/${encodeBase64UrlText(path)}/search`;
  const response = await grid.call('GET', route, {
    params,
    headers: { Accept: 'application/x-ndjson' },
  });
  const lines = response.text.split('\n').filter((line) => line !== '');
  if (options.json) {
    for (const line of lines) say(line);
    return;
  }
  const rows = lines.map((line) => {
    const found = JSON.parse(line) as { path: string; files: number; size: number };
    return [String(found.files), String(found.size), found.path];
  });
  for (const line of table(['FILES', 'BYTES', 'DIRECTORY'], rows)) say(line);
}

/** `energy>100` → `energy=>|100`; what `=` means depends on the field's type. */
async function conditionsOf(
  grid: GridConnection,
  conditions: string[],
): Promise<[string, string][]> {
  if (conditions.length === 0) return [];
  const fields = await grid.get('/filecatalogue/metadata', { maxValues: 1 });
  return conditions.map((text) => {
    const match = CONDITION.exec(text);
    const [, name = '', operator = '', operand = ''] = match ?? [];
    const field = fields[name];
    if (!match) throw new CommandError(`${text} is no condition such as energy>100`, 2);
    const isText = isJsonObject(field) && field['type'] === 'string';
    if (!isText) return [name, `${operator}|${operand}`];
    if (operator === '=') return [name, `in|${operand}`];
    if (operator === '!=') return [name, `nin|${operand}`];
    throw new CommandError(`${name} is a text: only = and != are possible`, 2);
  });
}
