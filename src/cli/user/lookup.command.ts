import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { EncodingError, parseJson, utf8Text } from '#src/kernel/index.js';
import type { FileAttributesResponse } from '#src/client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { emit, emitName, jsonText, tell } from '../terminal/output.js';
import { sourceName } from '../terminal/read-text.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';
import type { GridConnection } from './grid-connection.js';
import { withConnection } from './with-connection.js';

/** Of one call: the service takes 10,000 paths, and a MiB unless it is set up otherwise. */
const MOST_PATHS = 10_000;
const MOST_CHARACTERS = 128 * 1024;

interface Found {
  path: string;
  attributes?: FileAttributesResponse;
  error?: { status: number; code: string; detail: string };
}

/** `lookup`. */
export function lookupCommand(): Command {
  return new Command('lookup')
    .description('attributes of many files of the catalogue, by paths that stand in files')
    .argument('[files...]', 'files with a path on each line, - for standard input', ['-'])
    .addOption(outputOption())
    .addOption(jsonOption())
    .action((files: string[], options: Printing) =>
      withConnection((grid) => lookUp(grid, files, options)),
    );
}

async function lookUp(grid: GridConnection, files: string[], options: Printing): Promise<void> {
  const found: Required<Pick<Found, 'path' | 'attributes'>>[] = [];
  let asked = 0;
  let missing = 0;
  for await (const paths of batches(files)) {
    const answer = await grid.client.lookUpFiles({ paths });
    const lines = (await answer.text()).split('\n').filter((line) => line !== '');
    asked += lines.length;
    for (const line of lines) {
      const one = parseJson(line) as unknown as Found;
      const { path, attributes, error } = one;
      if (error) {
        missing += 1;
        if (options.output !== 'json') tell(`${path}: ${error.detail}`);
      }
      // a line each as they come, for there may be a million
      if (options.output === 'json') emit(jsonText(one));
      else if (options.output === 'name' && attributes) emitName(path);
      else if (attributes) found.push({ path, attributes });
    }
  }
  if (options.output !== 'json' && options.output !== 'name') await presentFound(options, found);
  if (missing > 0) throw new CommandError(`${missing} of ${asked} paths have no answer`);
}

async function presentFound(
  options: Printing,
  found: readonly { path: string; attributes: FileAttributesResponse }[],
): Promise<void> {
  await present(options, {
    value: { files: found },
    heading: ['SIZE', 'CHECKSUM', 'OWNER', 'PATH'],
    rows: found.map(({ path, attributes: { Size, Checksum, Owner } }) => [
      ...[String(Size), Checksum, Owner, path],
    ]),
    names: [],
  });
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
