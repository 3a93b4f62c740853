import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import cliProgress from 'cli-progress';
import { Command, Option } from 'commander';
import { Problem, stringifyJson, type JsonObject } from '#src/kernel/index.js';
import {
  ExportService,
  ImportService,
  LISTING_FORMATS,
  MoveService,
  NamespaceService,
  VerificationService,
  type BulkSummary,
  type ListingFormat,
} from '../../file-catalogue/index.js';
import { CommandError } from '../terminal/command-error.js';
import { pairOf } from '../terminal/metadata-pair.js';
import type { CliContext } from './context.js';
import { jsonText, say } from '../terminal/output.js';
import { writeWhole } from '../terminal/write-whole.js';
import { jsonOption, outputOption, show, type Printing } from '../terminal/output-format.js';

/** `gridgate catalogue …`: fill, read out, check and rearrange the file catalogue. */
export function catalogueCommand(context: CliContext): Command {
  const command = new Command('catalogue').description(
    'fill, read out, check and rearrange the file catalogue',
  );
  addExchange(command, context);
  addChanges(command, context);
  command
    .command('verify')
    .description('count everything anew and compare it with the stored totals')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((options: Printing) => verify(context, options));
  return command;
}

function addExchange(command: Command, context: CliContext): void {
  command
    .command('import')
    .description('apply NDJSON, or a listing dump of DIRAC or Rucio (CSV); safe to run again')
    .argument('<file>', 'file to read, - for standard input')
    .addOption(
      new Option('--format <format>', 'what the file holds')
        .choices(['ndjson', ...LISTING_FORMATS])
        .default('ndjson'),
    )
    .option('--prefix <directory>', 'put the paths of a listing below this directory')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((file: string, options: ImportOptions) => importFile(context, file, options));
  command
    .command('export')
    .description('write a subtree as NDJSON that import takes')
    .argument('[directory]', 'where to begin', '/')
    .option('--output <file>', 'file to write instead of standard output')
    .action((directory: string, options: { output?: string }) =>
      exportTree(context, directory, options.output),
    );
}

function addChanges(command: Command, context: CliContext): void {
  command
    .command('mkdir')
    .description('make a directory and those above it')
    .argument('<directory>')
    .option('--owner <user>', 'owner')
    .option('--group <group>', 'group')
    .option('--mode <octal>', 'mode bits, octal', octal)
    .action((path: string, options: OwnerOptions) =>
      apply(context, { kind: 'directory', path, ...options }),
    );
  command
    .command('register')
    .description('register a file; missing directories are made')
    .argument('<file>')
    .requiredOption('--size <bytes>', 'bytes', bytes)
    .option('--checksum <text>', 'checksum')
    .option('--checksum-type <name>', 'algorithm of the checksum')
    .option('--guid <text>', 'GUID')
    .option('--se <name...>', 'storage elements that hold a copy')
    .option('--owner <user>', 'owner')
    .option('--group <group>', 'group')
    .option('--mode <octal>', 'mode bits, octal', octal)
    .action((path: string, { se = [], ...options }: RegisterOptions) =>
      apply(context, {
        kind: 'file',
        path,
        ...options,
        replicas: se.map((name) => ({ se: name })),
      }),
    );
  command
    .command('field')
    .description('declare a metadata field')
    .argument('<name>')
    .addArgument(new Command().createArgument('<type>').choices(['int', 'float', 'string', 'date']))
    .action((name: string, type: string) => apply(context, { kind: 'field', name, type }));
  command
    .command('meta')
    .description('set metadata of a directory; null removes a value')
    .argument('<directory>')
    .argument('<key=value...>', 'values as text; JSON in quotation marks is what it is')
    .action((path: string, pairs: string[]) => setMetadata(context, path, pairs));
  command
    .command('move')
    .description('give a directory with everything in it another path')
    .argument('<from>')
    .argument('<to>')
    .action((from: string, to: string) => move(context, from, to));
}

interface ImportOptions extends Printing {
  format: 'ndjson' | ListingFormat;
  prefix?: string;
}

type OwnerOptions = { owner?: string; group?: string; mode?: number } & JsonObject;
type RegisterOptions = OwnerOptions & { se?: string[] };

async function importFile(
  context: CliContext,
  file: string,
  options: ImportOptions,
): Promise<void> {
  const service = (await context.application()).get(ImportService);
  const size = file === '-' ? 0 : (await stat(file)).size;
  const bar = progressBar('{bar} {percentage}% | {lines} lines | {duration_formatted}', size || 1);
  let read = 0;
  const source = async function* (): AsyncGenerator<Uint8Array> {
    const input = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1 << 18 });
    for await (const chunk of input as AsyncIterable<Buffer>) {
      read += chunk.length;
      yield chunk;
    }
  };
  const { format, prefix } = options;
  const summary = await service.import(
    { source: source(), format, prefix },
    {
      failed: (line) => void process.stderr.write(`${jsonText(line)}\n`),
      progress: ({ lines }) => bar.update(size ? read : 0, { lines }),
    },
  );
  bar.stop();
  await report(options, summary);
}

async function report(options: Printing, summary: BulkSummary): Promise<void> {
  const { lines, created, updated, unchanged, failed } = summary;
  await show(options, summary, () => [
    `${lines} lines: ${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`,
  ]);
  if (failed > 0) throw new CommandError(`${failed} lines failed`, 1);
}

type Write = (text: string, done: (error?: Error | null) => void) => void;

async function exportTree(
  context: CliContext,
  directory: string,
  file: string | undefined,
): Promise<void> {
  const service = (await context.application()).get(ExportService);
  const bar = progressBar('{lines} lines | {duration_formatted}', 1);
  const exportTo = async (write: (text: string) => Promise<void>): Promise<void> => {
    const progress = (written: number): void => bar.update(0, { lines: written });
    const lines = await service.export(directory, { write, progress });
    bar.update(1, { lines });
  };
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

async function verify(context: CliContext, options: Printing): Promise<void> {
  const service = (await context.application()).get(VerificationService);
  const bar = progressBar('{lines} directories | {duration_formatted}', 1);
  const found = await service.verify((directories) => bar.update(0, { lines: directories }));
  bar.stop();
  await show(options, found, () => [
    `${found.directories} directories, ${found.files} files, ${found.bytes} bytes`,
    ...found.descriptions,
    found.faults === 0 ? 'all totals are exact' : `${found.faults} faults`,
  ]);
  if (found.faults > 0) throw new CommandError(`${found.faults} faults`, 1);
}

/** Sets values of a directory that is there: a mistyped path must not become a new directory. */
async function setMetadata(context: CliContext, path: string, pairs: string[]): Promise<void> {
  const namespace = (await context.application()).get(NamespaceService);
  if (!(await namespace.hasDirectory(path))) {
    throw new CommandError(`There is no directory ${path}`, 2);
  }
  await apply(context, {
    kind: 'directory',
    path,
    metadata: Object.fromEntries(pairs.map(pairOf)),
  });
}

async function move(context: CliContext, from: string, to: string): Promise<void> {
  const service = (await context.application()).get(MoveService);
  say(`${await told(() => service.move(from, to))} directories moved`);
}

/** Applies one line of NDJSON. */
async function apply(context: CliContext, line: JsonObject): Promise<void> {
  const service = (await context.application()).get(ImportService);
  const text = stringifyJson(
    Object.fromEntries(Object.entries(line).filter(([, value]) => value !== undefined)),
  );
  const failures: string[] = [];
  const source = Readable.from([Buffer.from(text)]);
  const summary = await service.import(
    { source, format: 'ndjson' },
    { failed: ({ detail }) => void failures.push(detail) },
  );
  if (failures.length > 0) throw new CommandError(failures.join('; '), 2);
  say(summary.created > 0 ? 'created' : summary.updated > 0 ? 'updated' : 'unchanged');
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) throw new CommandError(error.detail, error.status >= 500 ? 3 : 2);
    throw error;
  }
}

/** On standard error, and only for people who look at it. */
function progressBar(format: string, total: number): cliProgress.SingleBar {
  const bar = new cliProgress.SingleBar(
    { format, stream: process.stderr, noTTYOutput: false, hideCursor: true, clearOnComplete: true },
    cliProgress.Presets.shades_classic,
  );
  bar.start(total, 0, { lines: 0 });
  return bar;
}

function octal(text: string): number {
  if (!/^[0-7]{1,4}$/.test(text)) throw new CommandError(`${text} is no octal mode`, 2);
  return Number.parseInt(text, 8);
}

function bytes(text: string): number | bigint {
  if (!/^\d{1,19}$/.test(text)) throw new CommandError(`${text} is no number of bytes`, 2);
  const size = Number(text);
  return Number.isSafeInteger(size) ? size : BigInt(text);
}
