import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { Inject, Injectable } from '@nestjs/common';
import { isJsonObject, Problem, stringifyJson } from '#src/kernel/index.js';
import type { JsonObject } from '#src/kernel/index.js';
import {
  CONFIG,
  contentTypeOf,
  parseJsonText,
  readForm,
  readJsonObject,
  unsupportedMediaType,
  type Config,
  type HttpRequest,
} from '#src/platform/index.js';
import { fileNameFault } from '../manifest/file-name.js';
import { SandboxSpool } from '../sandbox/sandbox-spool.js';

/** A file that came with a submit, in the spool. */
export interface ReceivedFile {
  name: string;
  path: string;
  sizeBytes: number;
  /** SHA-256 of the content, hexadecimal. */
  hash: string;
}

/** The body of a submit, whatever form it came in. */
export interface Submission {
  manifests: JsonObject[];
  files: ReceivedFile[];
  /** Removes the received files from the spool. */
  discard(): Promise<void>;
}

const FORMS = 'application/json, multipart/form-data or application/x-www-form-urlencoded';
const DRAIN_MS = 10_000;
const DRAIN_BYTES = 256 * 1024 * 1024;

/** Reads the body of POST /jobs in all its forms (contract 5). Files are streamed to the spool, never held whole. */
@Injectable()
export class SubmissionReader {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly spool: SandboxSpool,
  ) {}

  /** Reads the body. Throws Problem 400, 413 or 415; then nothing is left in the spool. */
  async read(request: HttpRequest): Promise<Submission> {
    const type = contentTypeOf(request);
    if (type === 'multipart/form-data') return this.readMultipart(request);
    if (type === 'application/json') {
      const body = await readJsonObject(request, this.config.maxBodyBytes);
      return { manifests: this.checked(ofBody(body)), files: [], discard: nothing };
    }
    if (type === 'application/x-www-form-urlencoded') {
      const form = await readForm(request, this.config.maxBodyBytes);
      form.allowOnly(['manifest']);
      const texts = form.all('manifest');
      return { manifests: this.parsed(texts), files: [], discard: nothing };
    }
    throw unsupportedMediaType(request, FORMS);
  }

  private async readMultipart(request: HttpRequest): Promise<Submission> {
    const directory = await this.spool.newDirectory();
    const discard = (): Promise<void> => rm(directory, { recursive: true, force: true });
    try {
      const parts = await new MultipartReading(request, directory, this.config).finished();
      return { manifests: this.parsed(parts.manifests), files: parts.files, discard };
    } catch (error) {
      await discard();
      throw error;
    }
  }

  private parsed(texts: readonly string[]): JsonObject[] {
    if (texts.length === 0) throw Problem.invalidField('manifest', 'is missing');
    const manifests = texts.map((text, index) => {
      this.checkSize(Buffer.byteLength(text), index, texts.length);
      const where = texts.length === 1 ? 'The manifest' : `Manifest ${index + 1}`;
      const value = parseJsonText(text, where);
      if (isJsonObject(value)) return value;
      throw new Problem('request.malformed-body', `${where} must be a JSON object`);
    });
    return this.checked(manifests);
  }

  private checked(manifests: JsonObject[]): JsonObject[] {
    const { maxManifests } = this.config;
    if (manifests.length > maxManifests) {
      const text = `${manifests.length} manifests were sent, at most ${maxManifests} are allowed`;
      throw new Problem('request.too-large', text, { members: { limit: maxManifests } });
    }
    manifests.forEach((manifest, index) => {
      this.checkSize(Buffer.byteLength(stringifyJson(manifest)), index, manifests.length);
    });
    return manifests;
  }

  private checkSize(bytes: number, index: number, count: number): void {
    const limit = this.config.maxManifestBytes;
    if (bytes <= limit) return;
    const which = count === 1 ? 'The manifest' : `Manifest ${index + 1}`;
    throw new Problem('request.too-large', `${which} is larger than ${limit} bytes`, {
      members: { limit },
    });
  }
}

function nothing(): Promise<void> {
  return Promise.resolve();
}

function ofBody(body: JsonObject): JsonObject[] {
  if (body['manifests'] === undefined) return [body];
  const further = Object.keys(body).filter((key) => key !== 'manifests');
  if (further.length > 0) {
    const violations = further.map((field) => ({
      field,
      problem: 'is not known beside manifests',
    }));
    throw Problem.invalid(violations);
  }
  const list = body['manifests'];
  if (!Array.isArray(list)) throw Problem.invalidField('manifests', 'must be a list of objects');
  if (list.length === 0) throw Problem.invalidField('manifests', 'is empty');
  const violations = list.flatMap((item, index) =>
    isJsonObject(item) ? [] : [{ field: `manifests[${index}]`, problem: 'must be an object' }],
  );
  if (violations.length > 0) throw Problem.invalid(violations.slice(0, 100));
  return list as JsonObject[];
}

/** One multipart body on its way in. After the first fault nothing is kept any more. */
class MultipartReading {
  private readonly manifests: string[] = [];
  private readonly files: ReceivedFile[] = [];
  private readonly names = new Set<string>();
  private readonly writing: Promise<void>[] = [];
  private totalBytes = 0;
  private fault: Problem | undefined;
  private faultAt: number | undefined;
  private drained = 0;
  private readonly open = new Set<Readable>();
  private readonly busboy: InstanceType<typeof Busboy>;

  constructor(
    private readonly request: HttpRequest,
    private readonly directory: string,
    private readonly config: Config,
  ) {
    try {
      this.busboy = new Busboy({
        headers: request.headers as BusboyHeaders,
        preservePath: true,
        limits: {
          fieldSize: config.maxManifestBytes + 1,
          fields: config.maxManifests + 1,
          files: config.maxSandboxFiles + 1,
          headerPairs: 50,
        },
      });
    } catch (cause) {
      throw new Problem('request.malformed-body', 'The multipart body has no boundary', { cause });
    }
    this.busboy.on('field', (name, value, _cut, isCut) => this.onField(name, value, isCut));
    this.busboy.on('file', (_field, stream, name: string | undefined) => this.onFile(stream, name));
  }

  async finished(): Promise<{ manifests: string[]; files: ReceivedFile[] }> {
    // The parser always sees the body to its end: one that is destroyed in the middle of a part throws out of reach.
    const end = new Promise<void>((resolve, reject) => {
      this.busboy.once('finish', resolve);
      this.busboy.on('error', reject);
      this.request.once('error', reject);
      const onClose = (): void => {
        if (!this.request.readableEnded) reject(new Error('the client went away'));
      };
      this.request.once('close', onClose);
      if (this.request.closed) onClose(); // while the spool was being prepared
    });
    this.request.on('data', (chunk: Buffer) => this.boundDrain(chunk.length));
    this.request.pipe(this.busboy);
    try {
      await end;
    } catch (cause) {
      this.request.unpipe(this.busboy);
      for (const stream of this.open) stream.destroy();
      this.fault ??= new Problem('request.malformed-body', 'The multipart body is cut or broken', {
        cause,
      });
      this.request.resume();
    }
    const written = await Promise.allSettled(this.writing);
    if (this.fault) throw this.fault;
    const failed = written.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return { manifests: this.manifests, files: this.files };
  }

  private onField(name: string | undefined, value: string, isCut: boolean): void {
    if (this.fault) return;
    if (name === 'access_token') return; // the guard has spoken; some clients repeat it here
    if (name !== 'manifest') {
      this.refuse(Problem.invalidField(name ?? '', 'is not known; files need a file name'));
    } else if (isCut) {
      this.tooLarge(`A manifest is larger than ${this.config.maxManifestBytes} bytes`);
    } else if (this.manifests.push(value) > this.config.maxManifests) {
      this.tooLarge(`More than ${this.config.maxManifests} manifests were sent`);
    }
  }

  private onFile(stream: Readable, name: string | undefined): void {
    stream.on('error', () => undefined);
    if (this.fault) {
      stream.resume();
      return;
    }
    const fault = this.fileFault(name ?? '');
    if (fault) {
      this.refuse(fault);
      stream.resume();
      return;
    }
    this.open.add(stream);
    const written = this.write(stream, name ?? '').finally(() => this.open.delete(stream));
    written.catch(() => undefined);
    this.writing.push(written);
  }

  private fileFault(name: string): Problem | undefined {
    const fault = fileNameFault(name) ?? (this.names.has(name) ? 'is sent twice' : undefined);
    if (fault !== undefined) {
      const problem = name === '' ? 'a file has no name' : `${name.slice(0, 255)}: ${fault}`;
      return Problem.invalidField('files', problem.replaceAll('\0', '?'));
    }
    this.names.add(name);
    const { maxSandboxFiles } = this.config;
    if (this.names.size <= maxSandboxFiles) return undefined;
    return new Problem('request.too-large', `More than ${maxSandboxFiles} files were sent`, {
      members: { limit: maxSandboxFiles },
    });
  }

  private async write(stream: Readable, name: string): Promise<void> {
    const path = join(this.directory, String(this.names.size));
    const hash = createHash('sha256');
    let sizeBytes = 0;
    const meter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        sizeBytes += chunk.length;
        this.totalBytes += chunk.length;
        hash.update(chunk);
        const limit = this.config.maxSandboxBytes;
        if (this.totalBytes <= limit) return done(null, chunk);
        this.tooLarge(`The files are larger than ${limit} bytes together`, limit);
        return done(); // read on, keep nothing
      },
    });
    const index = this.files.push({ name, path, sizeBytes: 0, hash: '' }) - 1;
    await pipeline(stream, meter, createWriteStream(path, { mode: 0o600 }));
    this.files[index] = { name, path, sizeBytes, hash: hash.digest('hex') };
  }

  private tooLarge(text: string, limit?: number): void {
    const members = limit === undefined ? {} : { limit };
    this.refuse(new Problem('request.too-large', text, { members }));
  }

  private refuse(fault: Problem): void {
    this.fault ??= fault;
    this.faultAt ??= Date.now();
  }

  /**
   * Most clients read the answer only after they have sent everything, so the rest of a refused body is read and
   * thrown away, for a while; then the connection is cut.
   */
  private boundDrain(bytes: number): void {
    if (this.faultAt === undefined) return;
    this.drained += bytes;
    const isLong = this.drained > DRAIN_BYTES || Date.now() - this.faultAt > DRAIN_MS;
    if (isLong) this.request.destroy();
  }
}
