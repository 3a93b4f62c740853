import { Injectable } from '@nestjs/common';
import {
  isJsonObject,
  Problem,
  Slices,
  type JsonValue,
  type ProblemCode,
} from '#src/kernel/index.js';
import type { Actor } from '../access/catalogue.policy.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import type { LineOutcome } from '../writing/catalogue-line.js';
import { LineReader, type ReadLine } from '../writing/line-reader.service.js';
import { parsedLines, type NumberedObject } from './parsed-lines.js';
import { lineBlocks } from './text-lines.js';

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
  code: ProblemCode;
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

/** Lines that are read at once, and their characters. */
const READ_LINES = 5_000;
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
    return this.applyObjects(actor, parsedLines(lineBlocks(source)), listener);
  }

  /**
   * Applies objects that come from somewhere else, for example from CSV. While one batch is written the next one is read, so
   * memory is bounded by two.
   */
  async applyObjects(
    actor: Actor,
    blocks: AsyncIterable<readonly NumberedObject[]>,
    listener: BulkListener,
  ): Promise<BulkSummary> {
    const summary = noLines();
    let writing: Promise<void> = Promise.resolve();
    try {
      for await (const batch of batchesOf(blocks)) {
        const lines = await this.readBatch(batch);
        await writing;
        writing = this.write(actor, lines, { summary, listener });
        writing.catch(() => undefined); // it is waited for, with its fault
      }
    } finally {
      await writing;
    }
    return summary;
  }

  private async readBatch(batch: readonly NumberedObject[]): Promise<BatchLine[]> {
    const objects = batch.flatMap(({ json }) => (json instanceof Problem ? [] : [json]));
    const read = (await this.reader.read(objects))[Symbol.iterator]();
    return batch.map(({ number, json }) => {
      const line = json instanceof Problem ? json : (read.next().value as ReadLine);
      return { number, json, line };
    });
  }

  private async write(
    actor: Actor,
    batch: readonly BatchLine[],
    run: { summary: BulkSummary; listener: BulkListener },
  ): Promise<void> {
    const waiting = new Waiting(batch);
    const lines = batch.flatMap(({ line }) => (line instanceof Problem ? [] : [line]));
    for await (const outcomes of this.writer.applying(actor, lines, run.listener.signal)) {
      await tell(waiting, outcomes, run);
    }
    await tell(waiting, [], run);
  }
}

/** Some thousand lines at a time, or fewer long ones. */
async function* batchesOf(
  blocks: AsyncIterable<readonly NumberedObject[]>,
): AsyncGenerator<NumberedObject[]> {
  let batch: NumberedObject[] = [];
  let characters = 0;
  for await (const block of blocks) {
    for (const object of block) {
      batch.push(object);
      characters += object.characters ?? 0;
      if (batch.length < READ_LINES && characters < BATCH_CHARACTERS) continue;
      yield batch;
      batch = [];
      characters = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

interface BatchLine extends NumberedObject {
  line: ReadLine;
}

/** Lines of a batch that are to be told about, in order. */
class Waiting {
  private next = 0;

  constructor(private readonly lines: readonly BatchLine[]) {}

  /** The lines of these outcomes with the lines before them that are none; without outcomes such lines alone. */
  *take(outcomes: readonly LineOutcome[]): Generator<{ line: BatchLine; outcome: LineOutcome }> {
    let told = 0;
    for (; this.next < this.lines.length; this.next += 1) {
      const line = this.lines[this.next] as BatchLine;
      const isNone = line.line instanceof Problem;
      const outcome = isNone ? (line.line as Problem) : outcomes[told];
      if (outcome === undefined) return;
      told += Number(!isNone);
      yield { line, outcome };
    }
  }
}

/** Counts the outcomes, and the lines before them that are none; only then tells which have failed, which may fail too. */
async function tell(
  waiting: Waiting,
  outcomes: readonly LineOutcome[],
  { summary, listener }: { summary: BulkSummary; listener: BulkListener },
): Promise<void> {
  const failed: FailedLine[] = [];
  for (const { line, outcome } of waiting.take(outcomes)) {
    summary.lines += 1;
    summary[countedAs(outcome)] += 1;
    if (outcome === 'deleted' || outcome === 'removing') listener.deleted?.();
    if (outcome instanceof Problem) failed.push(failedLine(line.number, line.json, outcome));
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
  if (outcome === 'deleted' || outcome === 'removing') return 'updated';
  return outcome === 'absent' ? 'unchanged' : outcome;
}

function failedLine(number: number, json: JsonValue | Problem, problem: Problem): FailedLine {
  const place =
    !(json instanceof Problem) && isJsonObject(json) ? (json['path'] ?? json['name']) : undefined;
  return {
    line: number,
    ...(typeof place === 'string' ? { path: place } : {}),
    status: problem.status,
    code: problem.code,
    detail: problem.detail,
  };
}
