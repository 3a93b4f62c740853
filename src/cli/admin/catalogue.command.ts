import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { stringifyJson } from '#src/kernel/index.js';
import {
  ExportService,
  ImportService,
  LISTING_FORMATS,
  MoveService,
  NamespaceService,
  VerificationService,
} from '../../file-catalogue/index.js';
import { group, type OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { isForPrograms, type Printing, type Shown } from '../terminal/output-format.js';
import { jsonText, say } from '../terminal/output.js';
import { bytes, given, metadataOf, octal } from '../terminal/reading.js';
import { writeWhole } from '../terminal/write-whole.js';
import { progress } from '../terminal/progress.js';
import { onService, type CliContext } from './context.js';

const OWNER_OPTIONS = [
  ['--owner <user>', 'owner'],
  ['--group <group>', 'group'],
  ['--mode <octal>', 'mode bits, octal', { parse: octal }],
] as const;
const IMPORT_OPTIONS = [
  [
    '--format <format>',
    'what the file holds',
    { choices: ['ndjson', ...LISTING_FORMATS], default: 'ndjson' },
  ],
  ['--prefix <directory>', 'put the paths of a listing below this directory'],
] as const;

const exchangeCommands: Command[] = [
  onService(
    'import',
    'apply NDJSON, or a listing dump of DIRAC or Rucio (CSV); safe to run again',
    {
      args: [['<file>', 'file to read, - for standard input']],
      options: IMPORT_OPTIONS,
      show: importFile,
    },
  ),
  onService('export', 'write a subtree as NDJSON that import takes', {
    args: [['[directory]', 'where to begin', '/']],
    options: [['--output <file>', 'file to write instead of standard output']],
    run: (service, directory, { output }) => exportTree(service, directory, output),
  }),
  onService('verify', 'count everything anew and compare it with the stored totals', {
    show: async (service, options) => {
      const verification = await service.get(VerificationService);
      const bar = await progress({ title: 'directories', json: isForPrograms(options) });
      const value = await verification
        .verify((directories) => bar.update(directories))
        .finally(() => bar.stop());
      const { directories, files, bytes: size, descriptions, faults } = value;
      const lines = [
        `${directories} directories, ${files} files, ${size} bytes`,
        ...descriptions,
        faults === 0 ? 'all totals are exact' : `${faults} faults`,
      ];
      return { value, lines, fault: faults > 0 && new CommandError(`${faults} faults`, 1) };
    },
  }),
];

const changeCommands: Command[] = [
  onService('mkdir', 'make a directory and those above it', {
    args: [['<directory>', '']],
    options: OWNER_OPTIONS,
    run: (service, path, { owner, group: of, mode }) =>
      apply(service, { kind: 'directory', path, owner, group: of, mode }),
  }),
  onService('register', 'register a file; missing directories are made', {
    args: [['<file>', '']],
    options: [
      ['--size <bytes>', 'bytes', { required: true, parse: bytes }],
      ['--checksum <text>', 'checksum'],
      ['--checksum-type <name>', 'algorithm of the checksum'],
      ['--guid <text>', 'GUID'],
      ['--se <name...>', 'storage elements that hold a copy'],
      ...OWNER_OPTIONS,
    ],
    run: (service, path, { se = [], ...options }) => {
      const replicas = se.map((name) => ({ se: name }));
      return apply(service, { kind: 'file', path, ...options, replicas });
    },
  }),
  onService('field', 'declare a metadata field', {
    args: [
      ['<name>', ''],
      ['<type>', 'int, float, string or date'],
    ],
    run: (service, name, type) => apply(service, { kind: 'field', name, type }),
  }),
  onService('meta', 'set metadata of a directory; null removes a value', {
    args: [
      ['<directory>', ''],
      ['<key=value...>', 'values as text; JSON in quotation marks is what it is', metadataOf],
    ],
    run: async (service, path, pairs) => {
      // a mistyped path must not become a new directory
      if (!(await (await service.get(NamespaceService)).hasDirectory(path))) {
        throw new CommandError(`There is no directory ${path}`, 2);
      }
      await apply(service, { kind: 'directory', path, metadata: Object.fromEntries(pairs) });
    },
  }),
  onService('move', 'give a directory with everything in it another path', {
    args: [
      ['<from>', ''],
      ['<to>', ''],
    ],
    run: async (service, from, to) => {
      say(`${await (await service.get(MoveService)).move(from, to)} directories moved`);
    },
  }),
];

async function importFile(
  service: CliContext,
  file: string,
  options: OptionsOf<typeof IMPORT_OPTIONS> & Printing,
): Promise<Shown> {
  const { format, prefix } = options;
  const imports = await service.get(ImportService);
  const total = file === '-' ? 0 : (await stat(file)).size;
  const bar = await progress({
    title: 'reading',
    total,
    isBytes: true,
    json: isForPrograms(options),
  });
  let read = 0;
  const source = async function* (): AsyncGenerator<Uint8Array> {
    const input = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 18 });
    for await (const chunk of input as AsyncIterable<Buffer>) {
      read += chunk.length;
      yield chunk;
    }
  };
  const value = await imports
    .import(
      { source: source(), format, prefix },
      {
        failed: (line) => void process.stderr.write(`${jsonText(line)}\n`),
        progress: ({ lines }) => bar.update(read, `${lines} lines`),
      },
    )
    .finally(() => bar.stop());
  const { lines, created, updated, unchanged, failed } = value;
  const line = `${lines} lines: ${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`;
  const fault = failed > 0 && new CommandError(`${failed} lines failed`, 1);
  return { value, lines: [line], fault };
}

type Write = (text: string, done: (error?: Error | null) => void) => void;

async function exportTree(
  service: CliContext,
  directory: string,
  file: string | undefined,
): Promise<void> {
  const exports = await service.get(ExportService);
  const bar = await progress({ title: 'lines' });
  const exportTo = (write: (text: string) => Promise<void>): Promise<unknown> =>
    exports.export(directory, { write, progress: (lines) => bar.update(lines) });
  try {
    if (file === undefined) {
      await exportTo(async (text) => {
        if (!process.stdout.write(text)) await once(process.stdout, 'drain');
      });
      return;
    }
    await writeWhole(file, async (output) => {
      await exportTo(promisify(output.write.bind(output) as Write));
      await finished(output.end());
    });
  } finally {
    bar.stop();
  }
}

/** Applies one line of NDJSON. */
async function apply(service: CliContext, line: object): Promise<void> {
  const imports = await service.get(ImportService);
  const failures: string[] = [];
  const source = Readable.from([Buffer.from(stringifyJson(given(line)))]);
  const summary = await imports.import(
    { source, format: 'ndjson' },
    { failed: ({ detail }) => void failures.push(detail) },
  );
  if (failures.length > 0) throw new CommandError(failures.join('; '), 2);
  say(summary.created > 0 ? 'created' : summary.updated > 0 ? 'updated' : 'unchanged');
}

const verbs = [...exchangeCommands, ...changeCommands];
/** `gridgate catalogue …`: fill, read out, check and rearrange the file catalogue. */
export const catalogueCommand = group(
  'catalogue',
  'fill, read out, check and rearrange the file catalogue',
  verbs,
);
