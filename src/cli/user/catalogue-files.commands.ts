import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import {
  encodePath,
  GridError,
  moveFile,
  moveFileAsOwn,
  readFileEntry,
  type RegisterFileRequest,
} from '#src/client/index.js';
import { parseJson } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import {
  jsonOption,
  outputOption,
  present,
  show,
  type Printing,
} from '../terminal/output-format.js';
import { say } from '../terminal/output.js';
import { Adler32 } from './adler32.js';
import { octal } from './catalogue-paths.js';
import type { GridConnection } from './grid-connection.js';
import { withConnection } from './with-connection.js';
import { collect } from './words.js';

interface PutOptions {
  size?: string;
  like?: string;
  checksum?: string;
  checksumType?: string;
  guid?: string;
  mode?: number;
  replica: string[];
}

/** `stat`, `replicas`, `put`, `rm`, `mv`. */
export function catalogueFileCommands(): Command[] {
  return [statCommand(), replicasCommand(), putCommand(), removeCommand(), moveCommand()];
}

function statCommand(): Command {
  return new Command('stat')
    .description('what the catalogue knows of a file')
    .argument('<file>', 'path')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((path: string, options: Printing) =>
      withConnection(async ({ client }) => {
        const file = await client.readFileAttributes(encodePath(path));
        const lines = (): string[] =>
          Object.entries(file).map(([name, value]) =>
            name === 'Mode' ? `Mode: ${Number(value).toString(8)}` : `${name}: ${value}`,
          );
        await show(options, file, lines, [path]);
      }),
    );
}

function replicasCommand(): Command {
  return new Command('replicas')
    .description('where copies of a file lie')
    .argument('<file>', 'path')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((path: string, options: Printing) =>
      withConnection(async ({ client }) => {
        const { replicas } = await readFileEntry(client, path);
        const rows = Object.entries(replicas).map(([se, { Status, PFN }]) => [se, Status, PFN]);
        const names = Object.keys(replicas);
        const heading = ['STORAGE ELEMENT', 'STATUS', 'PFN'];
        await present(options, { value: replicas, heading, rows, names });
      }),
    );
}

function putCommand(): Command {
  return new Command('put')
    .description(
      'register a file; missing directories are made. The catalogue keeps names, not contents',
    )
    .argument('<path>', 'path in the catalogue')
    .option('--size <bytes>', 'bytes')
    .option('--like <file>', 'take size and Adler-32 checksum of a file here')
    .option('--checksum <text>', 'checksum')
    .option('--checksum-type <name>', 'algorithm of the checksum')
    .option('--guid <text>', 'GUID')
    .option('--mode <octal>', 'mode bits, octal', octal)
    .option('--replica <se[=pfn]>', 'a copy lies there; may be repeated', collect, [])
    .action((path: string, options: PutOptions) =>
      withConnection(async ({ client }) => {
        const answer = await client.registerFile(encodePath(path), await registration(options));
        say(`${path} ${answer.created ? 'registered' : 'was registered already'}`);
      }),
    );
}

async function registration(options: PutOptions): Promise<RegisterFileRequest> {
  const { size, like, checksum, checksumType, guid, mode, replica } = options;
  if ((size === undefined) === (like === undefined)) {
    throw new CommandError('give --size, or --like with a file here', 2);
  }
  const content = like === undefined ? { Size: bytes(size ?? '') } : await contentOf(like);
  const replicas = replica.map((word) => {
    const at = word.indexOf('=');
    return at < 1
      ? ([word, {}] as const)
      : ([word.slice(0, at), { PFN: word.slice(at + 1) }] as const);
  });
  return {
    ...content,
    ...(checksum !== undefined && { Checksum: checksum }),
    ...(checksumType !== undefined && { ChecksumType: checksumType }),
    ...(guid !== undefined && { GUID: guid }),
    ...(mode !== undefined && { Mode: mode }),
    ...(replicas.length > 0 && { Replicas: Object.fromEntries(replicas) }),
  };
}

function bytes(text: string): number {
  if (/^(?:0|[1-9]\d{0,18})$/.test(text)) return parseJson(text) as number;
  throw new CommandError(`--size ${text} is no number of bytes`, 2);
}

async function contentOf(path: string): Promise<RegisterFileRequest> {
  try {
    const { size } = await stat(path);
    const sum = new Adler32();
    for await (const piece of createReadStream(path)) sum.update(piece as Buffer);
    return { Size: size, Checksum: sum.hex, ChecksumType: 'Adler32' };
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`, 2);
  }
}

function removeCommand(): Command {
  return new Command('rm')
    .description('remove files from the catalogue, or empty directories with -d')
    .argument('<path...>', 'paths')
    .option('-d, --directory', 'the paths are of directories')
    .action((paths: string[], { directory }: { directory?: boolean }) =>
      withConnection(async ({ client }) => {
        for (const path of paths) {
          const place = encodePath(path);
          await (directory ? client.deleteDirectory(place) : client.deleteFile(place));
          say(`${path} removed`);
        }
      }),
    );
}

function moveCommand(): Command {
  return new Command('mv')
    .description(
      'give a file another path: registered there, then removed here (whole directories: admin catalogue move)',
    )
    .argument('<from>', 'path of a file')
    .argument('<to>', 'new path; with / at the end the directory')
    .option('--own', 'the file becomes yours, whoever its owner is')
    .action((from: string, to: string, { own }: { own?: boolean }) =>
      withConnection((grid) => move(grid, { from, to, own: own ?? false })),
    );
}

interface Move {
  from: string;
  to: string;
  own: boolean;
}

async function move({ client }: GridConnection, { from, to, own }: Move): Promise<void> {
  const target = to.endsWith('/') ? `${to}${from.slice(from.lastIndexOf('/') + 1)}` : to;
  if (target === from) throw new CommandError(`${from} and ${to} are the same`, 2);
  await (own ? moveFileAsOwn : moveFile)(client, from, target).catch((error: unknown) => {
    if (!(error instanceof GridError) || error.problem['owner'] === undefined) throw error;
    throw new CommandError(`${error.message}; --own makes it yours`, 2);
  });
  say(`${from} is now ${target}`);
}
