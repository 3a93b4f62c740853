import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  encodePath,
  GridError,
  moveFile,
  moveFileAsOwn,
  readFileEntry,
  type DeclareFieldRequest,
  type RegisterFileRequest,
} from '#src/client/index.js';
import { stringifyJson } from '#src/kernel/index.js';
import { group, type OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, thing } from '../terminal/output-format.js';
import { say, tell } from '../terminal/output.js';
import { bytes, given, metadataOf, octal, unreadable } from '../terminal/reading.js';
import { Adler32 } from '#src/storage-client/index.js';
import { contentCommands, STORAGE_CA, upload } from './catalogue-content.commands.js';
import { searchCommands } from './catalogue-search.commands.js';
import type { GridConnection } from './grid-connection.js';
import { onGrid } from './on-grid.js';

/** Words of `gridgate catalogue` that work on the database, beside the service. */
export const DATABASE_WORDS = new Set(['import', 'export', 'verify', 'move', 'register']);

/** Values of one field that are shown of a directory. */
const MOST_VALUES = 20;

const PUT_OPTIONS = [
  ['--size <bytes>', 'bytes', { parse: bytes }],
  ['--like <file>', 'take size and Adler-32 checksum of a file here'],
  ['--checksum <text>', 'checksum'],
  ['--checksum-type <name>', 'algorithm of the checksum'],
  ['--guid <text>', 'GUID'],
  ['--mode <octal>', 'mode bits, octal', { parse: octal }],
  ['--replica <se[=pfn]>', 'a copy lies there', { repeated: true }],
  [
    '--se <name>',
    'of a file that is uploaded: storage element; by default the first that takes it',
  ],
  ['--meta <key=value>', 'metadata of the file, set when it is there', { repeated: true }],
  STORAGE_CA,
] as const;

/** `find` gives directories. */
const NOT_FOUND_BY =
  '`find` does not search metadata that files have of their own: set it at their directory';
const REMOVED =
  'what came through the service is deleted where it lies, an hour after it was registered at the earliest (not where the storage element keeps all); what was only registered stays';

const fileCommands: Command[] = [
  onGrid('stat', 'what the catalogue knows of a file', {
    args: [['<file>', 'path']],
    show: async ({ client }, path) => {
      const value = await client.readFileAttributes(encodePath(path));
      const { lines } = thing({ ...value, Mode: value.Mode.toString(8) });
      return { value, lines, names: [path] };
    },
  }),
  onGrid('replicas', 'where copies of a file lie', {
    args: [['<file>', 'path']],
    show: async ({ client }, path) => {
      const { replicas } = await readFileEntry(client, path);
      return listOf(replicas, Object.entries(replicas), {
        'STORAGE ELEMENT': ([se]) => se,
        STATUS: ([, { Status }]) => Status,
        PFN: ([, { PFN }]) => (PFN === '' ? '(by its path)' : PFN),
      });
    },
  }),
  onGrid('put', 'upload a file to a storage element, or register one that lies somewhere', {
    args: [
      ['<path>', 'a file here; alone: the path in the catalogue to register with the options'],
      ['[target]', 'path in the catalogue; with / at the end the directory; missing ones are made'],
    ],
    options: PUT_OPTIONS,
    run: async (grid, path, target, options) => {
      const values = Object.fromEntries(options.meta.map(metadataOf));
      const file = await put(grid, { path, target }, options);
      if (options.meta.length === 0) return;
      await grid.client.mergeFileMetadata(encodePath(file), values);
      tell(NOT_FOUND_BY);
    },
  }),
  onGrid('rm', 'remove files from the catalogue, or empty directories with -d', {
    args: [['<path...>', 'paths']],
    options: [['-d, --directory', 'the paths are of directories']],
    run: async ({ client }, paths, { directory }) => {
      for (const path of paths) {
        const encoded = encodePath(path);
        await (directory ? client.deleteDirectory(encoded) : client.deleteFile(encoded));
        say(`${path} removed`);
      }
      if (!directory) tell(REMOVED);
    },
  }),
  onGrid(
    'mv',
    'give another path to a file whose bytes stay where they are, not to one that was put (directories: admin catalogue move)',
    {
      args: [
        ['<from>', 'path of a file'],
        ['<to>', 'new path; with / at the end the directory'],
      ],
      options: [['--own', 'the file becomes yours, whoever its owner is']],
      run: move,
    },
  ),
  onGrid('mkdir', 'make directories, and those above them', {
    args: [['<directory...>', 'paths']],
    options: [['--mode <octal>', 'mode bits, octal', { parse: octal }]],
    run: async ({ client }, paths, { mode }) => {
      for (const path of paths) {
        await client.makeDirectory(encodePath(path), given({ Mode: mode }));
        say(path);
      }
    },
  }),
];

/** Answers the path in the catalogue. */
async function put(
  grid: GridConnection,
  { path, target }: { path: string; target: string | undefined },
  options: OptionsOf<typeof PUT_OPTIONS>,
): Promise<string> {
  if (target !== undefined) {
    refuseDescribed(options);
    return upload(grid, path, target, options);
  }
  const { created } = await grid.client.registerFile(encodePath(path), await registration(options));
  say(`${path} ${created ? 'registered' : 'was registered already'}`);
  return path;
}

/** What is uploaded describes itself. */
function refuseDescribed(options: OptionsOf<typeof PUT_OPTIONS>): void {
  const { size, like, checksum, checksumType, replica } = options;
  const isDescribed = [size, like, checksum, checksumType, replica[0]].some(
    (one) => one !== undefined,
  );
  if (isDescribed) throw new CommandError('size, checksum and replica follow from the upload', 2);
}

async function registration(options: OptionsOf<typeof PUT_OPTIONS>): Promise<RegisterFileRequest> {
  const { size, like, checksum, checksumType, guid, mode, replica } = options;
  if (options.se !== undefined) {
    throw new CommandError('--se is for uploads', 2, 'give a file here and its path, or --replica');
  }
  if ((size === undefined) === (like === undefined)) {
    throw new CommandError('the size is missing', 2, 'give --size, or --like with a file here');
  }
  const content = size === undefined ? await contentOf(like ?? '') : { Size: size };
  const replicas = replica.map((word): [string, { PFN?: string }] => {
    const at = word.indexOf('=');
    return at < 1 ? [word, {}] : [word.slice(0, at), { PFN: word.slice(at + 1) }];
  });
  return {
    ...content,
    ...given({ Checksum: checksum, ChecksumType: checksumType, GUID: guid, Mode: mode }),
    ...(replicas.length > 0 && { Replicas: Object.fromEntries(replicas) }),
  };
}

async function contentOf(path: string): Promise<RegisterFileRequest> {
  try {
    const { size } = await stat(path);
    const sum = new Adler32();
    for await (const piece of createReadStream(path)) sum.update(piece as Buffer);
    return { Size: size, Checksum: sum.hex, ChecksumType: 'Adler32' };
  } catch (error) {
    throw unreadable(path, error);
  }
}

async function move(
  { client }: GridConnection,
  from: string,
  to: string,
  { own }: { own: true | undefined },
): Promise<void> {
  const target = to.endsWith('/') ? `${to}${from.slice(from.lastIndexOf('/') + 1)}` : to;
  if (target === from) throw new CommandError(`${from} and ${to} are the same`, 2);
  await (own ? moveFileAsOwn : moveFile)(client, from, target).catch((error: unknown) => {
    if (!(error instanceof GridError) || error.problem['owner'] === undefined) throw error;
    throw new CommandError(error.message, 2, '--own makes it yours');
  });
  say(`${from} is now ${target}`);
}

const metadataCommands: Command[] = [
  onGrid('meta', 'show metadata of a directory or file, or set it: meta /vo/a energy=100', {
    args: [
      ['<path>', 'directory or file'],
      [
        '[key=value...]',
        'values of declared fields by their type; of other keys texts, or JSON in quotation marks or brackets; null removes one',
        metadataOf,
      ],
    ],
    options: [['--inherited', 'of a file: with what its directories have']],
    show: async (grid, path, pairs, { inherited }) => {
      const isFile = await hasFile(grid, path);
      if (pairs.length === 0) {
        return pairsOf(await metadataAt(grid, path, { isFile, inherited }), 'VALUE');
      }
      const merge = isFile ? 'mergeFileMetadata' : 'mergeDirectoryMetadata';
      const values = Object.fromEntries(pairs);
      const shown = pairsOf(await grid.client[merge](encodePath(path), values), 'VALUE');
      return { ...shown, notes: isFile ? [NOT_FOUND_BY] : [] };
    },
  }),
  onGrid('fields', 'the declared metadata fields', {
    show: async ({ client }) => {
      const fields = Object.entries(await client.readMetadata({ maxValues: 1 }));
      return pairsOf(Object.fromEntries(fields.map(([name, { type }]) => [name, type])), 'TYPE');
    },
  }),
  onGrid('field', 'declare a metadata field (for managers of the catalogue)', {
    args: [
      ['<name>', 'name of the field'],
      ['<type>', 'int, float, string or date'],
    ],
    show: async ({ client }, name, type) => {
      // the service judges the type
      const request = { name, type: type as DeclareFieldRequest['type'] };
      const value = await client.declareField(request);
      return { value, lines: [`${name} is declared as ${type}`], names: [name] };
    },
  }),
];

function pairsOf(value: Record<string, unknown>, heading: string): ReturnType<typeof listOf> {
  return listOf(value, Object.entries(value), {
    FIELD: ([name]) => name,
    [heading]: ([, member]) => (typeof member === 'string' ? member : stringifyJson(member)),
  });
}

/** Own values of a file; of a directory those that it and what is below it carry. */
async function metadataAt(
  { client }: GridConnection,
  path: string,
  { isFile, inherited }: { isFile: boolean; inherited: true | undefined },
): Promise<Record<string, unknown>> {
  const encoded = encodePath(path);
  if (isFile) return client.readFileMetadata(encoded, given({ inherited }));
  const fields = await client.readDirectoryMetadata(encoded, { maxValues: MOST_VALUES });
  const carried = Object.entries(fields as Record<string, { values: unknown[] }>);
  const filled = carried.filter(([, { values }]) => values.length > 0);
  return Object.fromEntries(
    filled.map(([name, { values }]) => [name, values.length === 1 ? values[0] : values]),
  );
}

/** True when a file has the path; a directory, or nothing, is not one. */
async function hasFile({ client }: GridConnection, path: string): Promise<boolean> {
  try {
    await client.readFileAttributes(encodePath(path));
    return true;
  } catch (error) {
    if (error instanceof GridError && error.status === 404) return false;
    throw error;
  }
}

const verbs = [...searchCommands, ...fileCommands, ...contentCommands, ...metadataCommands];

/** `gridgate catalogue …` for users: what the service lets them do with the file catalogue. */
export const catalogueCommand = group(
  'catalogue',
  'look into the file catalogue and change it',
  verbs,
).addHelpText(
  'after',
  `\nFor administrators, on the database: ${[...DATABASE_WORDS].join(', ')} (gridgate admin catalogue --help)`,
);
