import { Injectable } from '@nestjs/common';
import { parse, type InfoField } from 'csv-parse';
import { Readable } from 'node:stream';
import { EncodingError, Problem, utf8Text } from '#src/kernel/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { joinPath } from '../path/catalogue-path.js';
import { TotalsAggregator } from '../totals/totals-aggregator.service.js';
import { BulkService, type BulkListener, type BulkSummary } from './bulk.service.js';
import type { NumberedObject } from './parsed-lines.js';
import { ListingColumns, type ListingFormat } from './listing-columns.js';

/** What to import. */
export interface ImportRequest {
  source: AsyncIterable<Uint8Array>;
  format: 'ndjson' | ListingFormat;
  /** Directory below which the paths of a listing are put. */
  prefix?: string | undefined;
}

/** Imports NDJSON, and listing dumps of DIRAC and Rucio, in the name of the service. Safe to run again. */
@Injectable()
export class ImportService {
  constructor(
    private readonly bulk: BulkService,
    private readonly policy: CataloguePolicy,
    private readonly totals: TotalsAggregator,
  ) {}

  /** Applies everything in order. A line that is broken or refused is told to the listener and fails alone. */
  async import(request: ImportRequest, listener: BulkListener): Promise<BulkSummary> {
    const actor = await this.policy.systemActor();
    const summary =
      request.format === 'ndjson'
        ? await this.bulk.applyLines(actor, request.source, listener)
        : await this.bulk.applyObjects(
            actor,
            listingObjects(request.source, request.format, request.prefix),
            listener,
          );
    await this.totals.aggregate(); // the command may run where no server adds up the totals
    return summary;
  }
}

const MARK = '\ufeff';

/** Reads comma, semicolon or tab separated rows, with or without a heading. */
async function* listingObjects(
  source: AsyncIterable<Uint8Array>,
  format: ListingFormat,
  prefix = '',
): AsyncGenerator<NumberedObject[]> {
  const [input, delimiter] = await withDelimiter(source);
  const parser = parse({
    bom: true, // of UTF-16: then cells arrive as text
    cast: cellOf,
    delimiter,
    encoding: null, // as bytes, which may be no UTF-8
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: 1024 * 1024,
  });
  const bytes = Readable.from(input, { objectMode: false });
  bytes.on('error', (error) => parser.destroy(error));
  bytes.pipe(parser);
  let columns: ListingColumns | undefined;
  for await (const { record, info } of parser as AsyncIterable<{
    record: (string | Problem)[];
    info: { lines: number };
  }>) {
    const { lines: number } = info;
    const cells = record.map((cell) => (cell instanceof Problem ? '' : cell));
    if (!columns) {
      columns = ListingColumns.of(cells, format);
      if (columns.hasHeading) continue;
    }
    if (cells[0]?.startsWith('#')) continue;
    const fault = record.find((cell) => cell instanceof Problem);
    yield [{ number, json: fault ?? lineOf(columns, cells, prefix) }];
  }
}

/** A cell in quotation marks is kept as it is, another without the blanks around it; a Problem for one that is no UTF-8. */
function cellOf(cell: string | Buffer, { quoting }: InfoField): string | Problem {
  try {
    const text = typeof cell === 'string' ? cell : utf8Text(cell);
    return quoting ? text : text.trim();
  } catch (error) {
    if (error instanceof EncodingError) return Problem.invalidField('line', 'is not valid UTF-8');
    throw error;
  }
}

function lineOf(columns: ListingColumns, cells: string[], prefix: string): NumberedObject['json'] {
  try {
    const line = columns.line(cells);
    if (prefix === '' || prefix === '/') return line;
    return { ...line, path: joinPath(prefix, line.path.slice(1)) };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** The stream again, and what separates the cells of its first line: a tab, a semicolon, else a comma. */
async function withDelimiter(
  source: AsyncIterable<Uint8Array>,
): Promise<[AsyncIterable<Uint8Array>, string]> {
  const iterator = source[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let isEnd = false;
  while (!isEnd && !read.some((piece) => piece.includes(0x0a))) {
    const next = await iterator.next();
    if (next.done === true) isEnd = true;
    else read.push(Buffer.from(next.value));
  }
  const begin = Buffer.concat(read);
  const first = begin.toString('utf8').split('\n', 1)[0] ?? '';
  const delimiter = first.includes('\t') ? '\t' : first.includes(',') ? ',' : ';';
  const rest = async function* (): AsyncGenerator<Uint8Array> {
    yield begin.indexOf(MARK) === 0 ? begin.subarray(Buffer.byteLength(MARK)) : begin;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      yield next.value;
    }
  };
  return [rest(), delimiter];
}
