import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import {
  loopTurn,
  isJsonObject,
  Problem,
  Slices,
  stringifyJson,
  ByteBuffer,
  type JsonObject,
  type JsonValue,
} from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import {
  bodyTooLarge,
  contentTypeOf,
  decodeText,
  parseJsonText,
  readBody,
  readChunks,
  unsupportedMediaType,
  type HttpRequest,
} from '#src/http/index.js';
import { ManifestFormRequest } from '../manifest/manifest.request.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { ARRAY_KEY, ArrayWish } from './array-wish.js';
import { LineSplitter, ListOpening, ListSplitter } from './manifest-splitter.js';
import { ManifestTexts, type ReceivedManifest } from './manifest-texts.js';
import { withWrittenNumbers } from './written-numbers.js';
import { MultipartReading, type ReceivedFile } from './multipart-reading.js';

/** The body of a submit, whatever form it came in. */
export interface Submission {
  /** To be read once, to its end. Throws Problem 400 or 413 at the end of a body that is faulty. */
  manifests: AsyncIterable<ReceivedManifest>;
  files: ReceivedFile[];
  /** Whether they are to be an array. */
  array: ArrayWish;
  /** Removes the received files from the spool. */
  discard(): Promise<void>;
}

const FORMS =
  'application/json, application/x-ndjson, multipart/form-data or application/x-www-form-urlencoded';

/**
 * Reads the body of POST /jobs in all its forms. Files are streamed to the spool; many manifests
 * are read as they arrive and never held together.
 */
@Injectable()
export class SubmissionReader {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly spool: SandboxSpool,
  ) {}

  /** Begins to read. Throws Problem 400, 413 or 415; then nothing is left in the spool. */
  async read(request: HttpRequest): Promise<Submission> {
    const type = contentTypeOf(request);
    if (type === 'multipart/form-data') return this.readMultipart(request);
    const array = new ArrayWish();
    const rest = { files: [], array, discard: (): Promise<void> => Promise.resolve() };
    if (type === 'application/json') return { manifests: this.ofJson(request, array), ...rest };
    if (type === 'application/x-ndjson') return { manifests: this.ofLines(request), ...rest };
    if (type === 'application/x-www-form-urlencoded') {
      const form = await readBody(ManifestFormRequest, request, this.config.maxBodyBytes);
      return { manifests: this.ofTexts(form.manifest), ...rest };
    }
    throw unsupportedMediaType(request, FORMS);
  }

  private async readMultipart(request: HttpRequest): Promise<Submission> {
    const directory = await this.spool.newDirectory();
    const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
    try {
      const parts = await new MultipartReading(request, directory, this.config).finished();
      const { manifests, files } = parts;
      return { manifests: this.ofTexts(manifests), files, array: new ArrayWish(), discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  private async *ofTexts(texts: readonly string[]): AsyncGenerator<ReceivedManifest> {
    if (texts.length === 0) throw Problem.invalidField('manifest', 'is missing');
    const reading = new ManifestTexts(this.config, (index) =>
      texts.length === 1 ? 'The manifest' : `Manifest ${index + 1}`,
    );
    const slices = new Slices();
    for (const text of texts) {
      const received = reading.read(Buffer.from(text));
      if (received) yield received;
      if (slices.isOver) await slices.rest();
    }
    reading.finish();
  }

  private async *ofLines(request: HttpRequest): AsyncGenerator<ReceivedManifest> {
    const reading = new ManifestTexts(this.config, (_index, line) => `Line ${line}`, 'lines');
    const chunks = readChunks(request, this.config.maxBulkBytes);
    const splitter = new LineSplitter(this.config.maxBodyBytes);
    yield* split(splitter, chunks, reading);
    const last = reading.read(splitter.end());
    if (last) yield last;
    reading.finish();
    if (reading.count === 0) throw Problem.invalidField('manifests', 'is empty');
  }

  private async *ofJson(request: HttpRequest, array: ArrayWish): AsyncGenerator<ReceivedManifest> {
    const chunks = readChunks(request, this.config.maxBulkBytes);
    const head = await this.headOf(chunks);
    if ('whole' in head) {
      yield* this.ofBody(head.whole);
      return;
    }
    if (head.array !== undefined) array.take(head.array);
    const reading = new ManifestTexts(this.config, (index) => `Manifest ${index + 1}`, 'list');
    const splitter = new ListSplitter(this.config.maxBodyBytes);
    yield* split(splitter, withFirst(head.listFrom, chunks), reading);
    const rest = splitter.end();
    reading.finish();
    if (!splitter.isDone) {
      throw new Problem('request.malformed-body', 'The list of manifests does not end');
    }
    const text = `{"":[]${decodeText(rest)}`;
    takeBeside(parseJsonText(text, 'What follows the manifests') as JsonObject, head.array, array);
    if (reading.count === 0) throw Problem.invalidField('manifests', 'is empty');
  }

  /** Reads until it is known whether the body begins with a list of manifests; if not, to its end. */
  private async headOf(
    chunks: AsyncGenerator<Buffer>,
  ): Promise<{ whole: Buffer } | { listFrom: Buffer; array: boolean | undefined }> {
    const opening = new ListOpening();
    const head = new ByteBuffer();
    let isList: boolean | undefined;
    for (let step = await chunks.next(); !step.done; step = await chunks.next()) {
      const chunk = step.value;
      const found = isList === undefined ? opening.find(chunk) : undefined;
      if (typeof found === 'number') {
        return { listFrom: chunk.subarray(found), array: opening.array };
      }
      if (found === false) isList = false;
      if (head.length + chunk.length > this.config.maxBodyBytes) {
        throw bodyTooLarge(this.config.maxBodyBytes);
      }
      head.add(chunk);
    }
    return { whole: head.take() };
  }

  private async *ofBody(bytes: Buffer): AsyncGenerator<ReceivedManifest> {
    await loopTurn.room();
    const text = decodeText(bytes);
    const body = parseJsonText(text);
    if (!isJsonObject(body)) {
      throw new Problem('request.malformed-body', 'The body must be a JSON object');
    }
    const further = Object.keys(body).filter((key) => key !== 'manifests' && key !== ARRAY_KEY);
    const isBulk = Object.hasOwn(body, 'manifests');
    if (isBulk && further.length > 0) throw unknownBeside(further);
    if (isBulk && !['boolean', 'undefined'].includes(typeof body[ARRAY_KEY])) {
      throw Problem.invalidField(ARRAY_KEY, 'must be true or false');
    }
    if (isBulk) throw Problem.invalidField('manifests', 'must be a list of objects');
    const limit = this.config.maxManifestBytes;
    if (Buffer.byteLength(stringifyJson(body)) > limit) {
      const detail = `The manifest is larger than ${limit} bytes`;
      throw new Problem('request.too-large', detail, { members: { limit } });
    }
    yield await Promise.resolve({ manifest: withWrittenNumbers(body, text), place: '' });
  }
}

/** Manifests that have arrived whole, with a turn for everybody else in between. */
async function* split(
  splitter: LineSplitter | ListSplitter,
  chunks: AsyncIterable<Buffer>,
  reading: ManifestTexts,
): AsyncGenerator<ReceivedManifest> {
  const slices = new Slices();
  for await (const chunk of chunks) {
    if (reading.isOverflowing) continue;
    for (const bytes of splitter.push(chunk)) {
      const received = reading.read(bytes);
      if (received) yield received;
      if (reading.isOverflowing) break;
      if (slices.isOver) await slices.rest();
    }
  }
}

async function* withFirst(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/** Takes what follows the list. Throws Problem 400 for what is not known there, or was said before it. */
function takeBeside(rest: JsonObject, before: boolean | undefined, array: ArrayWish): void {
  const further = Object.keys(rest).filter((key) => key !== '' && key !== ARRAY_KEY);
  if (further.length > 0) throw unknownBeside(further);
  if (!Object.hasOwn(rest, ARRAY_KEY)) return;
  if (before !== undefined) throw Problem.invalidField(ARRAY_KEY, 'is given twice');
  array.take(rest[ARRAY_KEY] as JsonValue);
}

function unknownBeside(fields: readonly string[]): Problem {
  const problemOf = (field: string): string =>
    field === 'manifests' ? 'is given twice' : 'is not known beside manifests';
  return Problem.invalid(
    fields.slice(0, 100).map((field) => ({ field, problem: problemOf(field) })),
  );
}
