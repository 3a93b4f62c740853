import { Injectable } from '@nestjs/common';
import { parse } from 'csv-parse';
import { Readable } from 'node:stream';
import { Problem } from '#src/kernel/index.js';
import { CataloguePolicy } from '../catalogue.policy.js';
import { joinPath } from '../path/catalogue-path.js';
import { TotalsFolder } from '../totals/totals-folder.js';
import {
  BulkService,
  type BulkListener,
  type BulkSummary,
  type NumberedObject,
} from './bulk.service.js';
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
    private readonly folder: TotalsFolder,
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
    await this.folder.fold(); // the command may run where no server adds up the totals
    return summary;
  }
}

/** Reads comma, semicolon or tab separated rows, with or without a heading. */
async function* listingObjects(
  source: AsyncIterable<Uint8Array>,
  format: ListingFormat,
  prefix = '',
): AsyncGenerator<NumberedObject> {
  const parser = parse({
    bom: true,
    delimiter: [',', '\t', ';'],
    info: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    max_record_size: 1024 * 1024,
  });
  const input = Readable.from(source, { objectMode: false });
  input.on('error', (error) => parser.destroy(error));
  input.pipe(parser);
  let columns: ListingColumns | undefined;
  for await (const { record, info } of parser as AsyncIterable<{
    record: string[];
    info: { lines: number };
  }>) {
    if (!columns) {
      columns = ListingColumns.of(record, format);
      if (columns.hasHeading) continue;
    }
    if (record[0]?.startsWith('#')) continue;
    yield { number: info.lines, json: lineOf(columns, record, prefix) };
  }
}

function lineOf(columns: ListingColumns, record: string[], prefix: string): NumberedObject['json'] {
  try {
    const line = columns.line(record);
    if (prefix === '' || prefix === '/') return line;
    return { ...line, path: joinPath(prefix, String(line['path']).slice(1)) };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
