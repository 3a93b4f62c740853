import { Command } from 'commander';
import { encodePath, type DeclareFieldRequest, type MetadataValues } from '#src/client/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import { pairOf } from '../terminal/metadata-pair.js';
import { say } from '../terminal/output.js';
import { catalogueCommands } from './catalogue.commands.js';
import { catalogueFileCommands } from './catalogue-files.commands.js';
import { hasFile, octal } from './catalogue-paths.js';
import type { GridConnection } from './grid-connection.js';
import { withConnection } from './with-connection.js';

/** Words of `gridgate catalogue` that work on the database, beside the service. */
export const DATABASE_WORDS = new Set(['import', 'export', 'verify', 'move', 'register']);

/** Values of one field that are shown of a directory. */
const MOST_VALUES = 20;

/** `gridgate catalogue …` for users: what the service lets them do with the file catalogue. */
export function catalogueCommand(): Command {
  const command = new Command('catalogue')
    .description('the file catalogue: look, find, register, remove, metadata')
    .addHelpText(
      'after',
      `\nFor administrators, on the database: ${[...DATABASE_WORDS].join(', ')} (gridgate admin catalogue --help)`,
    );
  const all = [
    ...catalogueCommands(),
    ...catalogueFileCommands(),
    mkdirCommand(),
    metaCommand(),
    fieldsCommand(),
    fieldCommand(),
  ];
  for (const child of all) command.addCommand(child);
  return command;
}

function mkdirCommand(): Command {
  return new Command('mkdir')
    .description('make directories, and those above them')
    .argument('<directory...>', 'paths')
    .option('--mode <octal>', 'mode bits, octal', octal)
    .action((paths: string[], { mode }: { mode?: number }) =>
      withConnection(async ({ client }) => {
        for (const path of paths) {
          await client.makeDirectory(encodePath(path), mode === undefined ? {} : { Mode: mode });
          say(path);
        }
      }),
    );
}

function metaCommand(): Command {
  return new Command('meta')
    .description(
      'show the metadata of a directory or file, or set values: meta /vo/a energy=100 note=null',
    )
    .argument('<path>', 'directory or file')
    .argument(
      '[key=value...]',
      'values of declared fields by their type; of other keys texts, or JSON in quotation marks or brackets; null removes one',
    )
    .option('--inherited', 'of a file: with what its directories have')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((path: string, pairs: string[], options: MetaOptions) =>
      withConnection(async (grid) => {
        const isFile = await hasFile(grid, path);
        const found =
          pairs.length > 0
            ? await merge(grid, path, isFile, Object.fromEntries(pairs.map(pairOf)))
            : await read(grid, path, isFile, options);
        const names = Object.keys(found);
        const rows = Object.entries(found).map(([name, value]) => [name, textOf(value)]);
        await present(options, { value: found, heading: ['FIELD', 'VALUE'], rows, names });
      }),
    );
}

interface MetaOptions extends Printing {
  inherited?: boolean;
}

function merge(
  { client }: GridConnection,
  path: string,
  isFile: boolean,
  values: MetadataValues,
): Promise<MetadataValues> {
  const place = encodePath(path);
  return isFile
    ? client.mergeFileMetadata(place, values)
    : client.mergeDirectoryMetadata(place, values);
}

/** Own values of a file; of a directory the values that it and what is below it carry. */
async function read(
  { client }: GridConnection,
  path: string,
  isFile: boolean,
  { inherited }: MetaOptions,
): Promise<Record<string, unknown>> {
  const place = encodePath(path);
  if (isFile) return client.readFileMetadata(place, { ...(inherited && { inherited }) });
  const fields = await client.readDirectoryMetadata(place, { maxValues: MOST_VALUES });
  const carried = Object.entries(fields as Record<string, { values: unknown[] }>);
  return Object.fromEntries(
    carried
      .map(([name, field]): [string, unknown[]] => [name, field.values])
      .filter(([, values]) => values.length > 0)
      .map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

function fieldsCommand(): Command {
  return new Command('fields')
    .description('the declared metadata fields')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((options: Printing) =>
      withConnection(async ({ client }) => {
        const fields = await client.readMetadata({ maxValues: 1 });
        const names = Object.keys(fields);
        const types = Object.fromEntries(
          Object.entries(fields).map(([name, { type }]) => [name, type]),
        );
        const rows = Object.entries(types);
        await present(options, { value: types, heading: ['FIELD', 'TYPE'], rows, names });
      }),
    );
}

function fieldCommand(): Command {
  return new Command('field')
    .description('declare a metadata field (for managers of the catalogue)')
    .argument('<name>', 'name of the field')
    .argument('<type>', 'int, float, string or date')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((name: string, type: string, options: Printing) =>
      withConnection(async ({ client }) => {
        // the service judges the type
        const made = await client.declareField({ name, type: type as DeclareFieldRequest['type'] });
        await show(options, made, () => [`${name} is declared as ${type}`], [name]);
      }),
    );
}
