import { Injectable } from '@nestjs/common';
import { isJsonObject, Problem, Slices, type JsonValue } from '#src/kernel/index.js';
import type { Actor } from '../access/catalogue.policy.js';
import { BATCH_LINES, CatalogueWriter } from '../writing/catalogue-writer.service.js';
import type { LineOutcome } from '../writing/catalogue-line.js';
import { LineReader, type ReadLine } from '../writing/line-reader.service.js';
import { parsedLines, type NumberedObject } from './parsed-lines.js';
import { textLines } from './text-lines.js';

/** What became of a bulk request. */
export interface BulkSummary {
  lines: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
}

/** The summary of no lines. */
export function noLines(): BulkSummary {
  return { lines: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
}

/** A line that changed nothing because it was refused. */
export interface FailedLine {
  line: number;
  path?: string;
  status: number;
  detail: string;
}

/** Who is told about a bulk request under way. */
export interface BulkListener {
  failed(line: FailedLine): Promise<void> | void;
  /** A line has deleted something; it is counted as updated. */
  deleted?(): void;
  /** After every transaction: what has been done so far. */
  progress?(summary: Readonly<BulkSummary>): void;
  /** When it is aborted, no further transaction is begun, and its reason is thrown. */
  signal?: AbortSignal;
}

const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** Applies any number of lines in order, some hundred in one transaction; memory is bounded by one batch. */
@Injectable()
export class BulkService {
  constructor(
    private readonly reader: LineReader,
    private readonly writer: CatalogueWriter,
  ) {}

  /** Applies a stream of NDJSON. A line that is broken or refused fails alone. */
  async applyLines(
    actor: Actor,
    source: AsyncIterable<Uint8Array>,
    listener: BulkListener,
  ): Promise<BulkSummary> {
    return this.applyObjects(actor, parsedLines(textLines(source)), listener);
  }

  /** Applies objects that come from somewhere else, for example from CSV. */
  async applyObjects(
    actor: Actor,
    objects: AsyncIterable<NumberedObject & { characters?: number }>,
    listener: BulkListener,
  ): Promise<BulkSummary> {
    const summary = noLines();
    let batch: NumberedObject[] = [];
    let characters = 0;
    const flush = async (): Promise<void> => {
      await this.applyBatch(actor, batch, { summary, listener });
      batch = [];
      characters = 0;
    };
    for await (const object of objects) {
      batch.push(object);
      characters += object.characters ?? 0;
      if (batch.length >= BATCH_LINES || characters >= BATCH_CHARACTERS) await flush();
    }
    if (batch.length > 0) await flush();
    return summary;
  }

  private async applyBatch(
    actor: Actor,
    batch: readonly NumberedObject[],
    run: { summary: BulkSummary; listener: BulkListener },
  ): Promise<void> {
    const objects = batch.flatMap(({ json }) => (json instanceof Problem ? [] : [json]));
    const read = (await this.reader.read(objects))[Symbol.iterator]();
    const waiting: BatchLine[] = batch.map(({ number, json }) => {
      const line = json instanceof Problem ? json : (read.next().value as ReadLine);
      return { number, json, line };
    });
    const lines = waiting.flatMap(({ line }) => (line instanceof Problem ? [] : [line]));
    for await (const outcomes of this.writer.applying(actor, lines, run.listener.signal)) {
      await tell(waiting, outcomes, run);
    }
    await tell(waiting, [], run);
  }
}

interface BatchLine extends NumberedObject {
  line: ReadLine;
}

/** Counts the outcomes, and the lines before them that are none; only then tells which have failed, which may fail too. */
async function tell(
  waiting: BatchLine[],
  outcomes: readonly LineOutcome[],
  { summary, listener }: { summary: BulkSummary; listener: BulkListener },
): Promise<void> {
  const failed: FailedLine[] = [];
  const left = [...outcomes].reverse();
  for (let next = waiting[0]; next; next = waiting[0]) {
    const outcome = next.line instanceof Problem ? next.line : left.pop();
    if (outcome === undefined) break;
    waiting.shift();
    summary.lines += 1;
    summary[countedAs(outcome)] += 1;
    if (outcome === 'deleted') listener.deleted?.();
    if (outcome instanceof Problem) failed.push(failedLine(next.number, next.json, outcome));
  }
  listener.progress?.(summary);
  const slices = Slices.ofLong();
  for (const line of failed) {
    await listener.failed(line);
    if (slices.isOver) await slices.rest();
  }
}

function countedAs(outcome: LineOutcome): 'created' | 'updated' | 'unchanged' | 'failed' {
  if (outcome instanceof Problem) return 'failed';
  if (outcome === 'deleted') return 'updated';
  return outcome === 'absent' ? 'unchanged' : outcome;
}

function failedLine(number: number, json: JsonValue | Problem, problem: Problem): FailedLine {
  const place =
    !(json instanceof Problem) && isJsonObject(json) ? (json['path'] ?? json['name']) : undefined;
  return {
    line: number,
    ...(typeof place === 'string' ? { path: place } : {}),
    status: problem.status,
    detail: problem.detail,
  };
}
