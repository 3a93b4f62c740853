import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Transform, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Busboy, type BusboyHeaders, type Dicer } from '@fastify/busboy';
import { ByteBuffer, machineProblem, Problem, Slices } from '#src/kernel/index.js';
import type { Config } from '#src/config/index.js';
import { decodeText, refuseEncoding, type HttpRequest } from '#src/http/index.js';
import { fileNameFault } from '../manifest/file-name.js';
import { HEAD_BYTES } from '../run/script-head.js';
import { exactDisposition, partNames } from './form-names.js';

/** A file that came with a submit, in the spool. */
export interface ReceivedFile {
  name: string;
  path: string;
  sizeBytes: number;
  /** SHA-256 of the content, hexadecimal. */
  hash: string;
  /** Its first bytes, at most HEAD_BYTES. */
  head: Buffer;
}

/** Opens a new file of the spool. */
type OpenFile = (path: string) => Writable;

const newFile: OpenFile = (path) => createWriteStream(path, { mode: 0o600 });
const PIECE_BYTES = 4 * 1024;
const DRAIN_MS = 10_000;
const DRAIN_BYTES = 256 * 1024 * 1024;

/**
 * One multipart body on its way in. A part named `manifest` is a manifest, with or without a file name; every other
 * part needs a file name and is an input file; one with an empty name and no content is a field that was left empty. After the
 * first fault, also of a file that cannot be written, nothing is kept and nothing is waited for any more.
 */
export class MultipartReading {
  private readonly manifests: string[] = [];
  private readonly files: ReceivedFile[] = [];
  private readonly names = new Set<string>();
  private readonly writing: Promise<void>[] = [];
  private totalBytes = 0;
  private manifestBytes = 0;
  private fault: Problem | undefined;
  private faultAt: number | undefined;
  private isBroken = false;
  private drained = 0;
  private readonly parts = new Set<Readable>();
  private readonly busboy: InstanceType<typeof Busboy>;
  private stopWaiting: () => void = () => undefined;

  constructor(
    private readonly request: HttpRequest,
    private readonly directory: string,
    private readonly config: Config,
    private readonly open: OpenFile = newFile,
  ) {
    refuseEncoding(request);
    try {
      this.busboy = new Busboy({
        headers: request.headers as BusboyHeaders,
        preservePath: true,
        defCharset: 'latin1', // characters are bytes, which are judged here
        limits: {
          fieldSize: config.maxManifestBytes + 1,
          fields: config.maxManifests + 1,
          files: config.maxSandboxFiles + config.maxManifests + 1,
          headerPairs: 50,
        },
      });
    } catch (cause) {
      throw new Problem('request.malformed-body', 'The multipart body has no boundary', { cause });
    }
    this.readNames();
    this.busboy.on('field', (name, value, _cut, isCut) => this.onField(name, value, isCut));
    this.busboy.on('file', (field, stream, name: string | undefined) => {
      stream.on('error', () => undefined);
      if (this.fault) stream.resume();
      else if (field === 'manifest') this.onManifestFile(stream);
      else if (name === '') this.onEmptyFile(stream);
      else this.onFile(stream, name);
    });
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
    const broken = end.catch(() => void (this.isBroken = true));
    try {
      await Promise.all([end, this.feed(broken)]);
    } catch (cause) {
      const detail = 'The multipart body is cut or broken';
      this.fault ??=
        cause instanceof Problem ? cause : new Problem('request.malformed-body', detail, { cause });
      // With an error: a pipeline may wait for ever for the end of a stream that is closed without one.
      for (const stream of this.parts) stream.destroy(cause as Error);
    }
    const written = await Promise.allSettled(this.writing);
    if (this.fault) throw this.fault;
    const failed = written.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return { manifests: this.manifests, files: this.files };
  }

  /** In pieces, with turns for others in between: a chunk of 64 KiB may be of a thousand parts. */
  private async feed(broken: Promise<void>): Promise<void> {
    const slices = new Slices();
    for await (const chunk of this.request.iterator({ destroyOnReturn: false })) {
      this.boundDrain((chunk as Buffer).length);
      for (const piece of piecesOf(chunk as Buffer)) {
        if (this.isBroken || this.fault) break; // the rest is read and thrown away
        if (!this.busboy.write(piece)) await Promise.race([this.until('drain'), broken]);
        if (slices.isOver) await slices.rest();
      }
    }
    if (!this.fault && !this.isBroken) {
      // It never ends when a file that is still being written fails.
      const over = this.until('finish');
      this.busboy.end();
      await Promise.race([over, broken]);
    }
    if (this.fault) throw this.fault;
  }

  /** Resolves when the parser says so, and with the first fault, after which it may never. */
  private until(event: 'drain' | 'finish'): Promise<void> {
    return new Promise((resolve) => {
      this.stopWaiting = resolve;
      this.busboy.once(event, resolve);
    });
  }

  /** Before the parser of forms reads the names of a part, which it would take otherwise or leave out: exactly. */
  private readNames(): void {
    const { parser } = (
      this.busboy as unknown as { _parser: { parser: InstanceType<typeof Dicer> } }
    )._parser;
    parser.prependListener('part', (part: Dicer.PartStream) => {
      part.once('header', (header: Record<string, string[] | undefined>) => {
        const [disposition = ''] = header['content-disposition'] ?? [];
        const names = partNames(disposition);
        if ('fault' in names) {
          this.refuse(new Problem('request.malformed-body', names.fault));
          return;
        }
        // The parser leaves parts out whose names have ends of lines.
        const broken = [names.name, names.file].find((text) => /[\r\n]/.test(text ?? ''));
        const fault = broken === undefined ? undefined : this.fileFault(broken);
        if (fault) this.refuse(fault);
        const [type] = header['content-type']?.[0]?.split(';') ?? [];
        header['content-disposition'] = [exactDisposition(names)];
        if (type !== undefined) header['content-type'] = [type.trim()];
      });
    });
  }

  /** A field for files that nobody has filled in: browsers send an empty name and nothing. */
  private onEmptyFile(stream: Readable): void {
    stream.once('data', () => this.refuse(Problem.invalidField('files', 'a file has no name')));
    stream.resume();
  }

  private onField(name: string | undefined, value: string, isCut: boolean): void {
    if (this.fault) return;
    if (name === 'access_token') return; // the guard has spoken; some clients repeat it here
    if (name !== 'manifest') {
      this.refuse(Problem.invalidField(name ?? '', 'is not known; files need a file name'));
    } else if (isCut) this.manifestTooLarge();
    else {
      try {
        const text = decodeText(Buffer.from(value, 'latin1'), 'A manifest');
        this.setManifest(this.manifests.push('') - 1, text);
      } catch (error) {
        this.refuse(error as Problem);
      }
    }
  }

  /** `curl -F manifest=@job.json`: the manifest is the content of the file. */
  private onManifestFile(stream: Readable): void {
    const index = this.manifests.push('') - 1;
    const content = new ByteBuffer();
    const whole = new Promise<void>((resolve) => stream.once('close', resolve));
    stream.on('data', (chunk: Buffer) => {
      if (content.length > this.config.maxManifestBytes) return; // read on, keep nothing
      content.add(chunk);
      if (content.length > this.config.maxManifestBytes) this.manifestTooLarge();
    });
    stream.once('end', () => {
      try {
        if (!this.fault) this.setManifest(index, decodeText(content.take(), 'A manifest'));
      } catch (error) {
        this.refuse(error as Problem);
      }
    });
    this.parts.add(stream);
    this.writing.push(whole.finally(() => this.parts.delete(stream)));
  }

  private setManifest(index: number, text: string): void {
    const { maxManifests, maxSubmitBytes } = this.config;
    this.manifests[index] = text;
    this.manifestBytes += text.length;
    if (index >= maxManifests) this.tooLarge(`More than ${maxManifests} manifests were sent`);
    if (this.manifestBytes <= maxSubmitBytes) return;
    this.tooLarge(`The manifests of a form are larger than ${maxSubmitBytes} bytes together`);
  }

  private manifestTooLarge(): void {
    this.tooLarge(`A manifest is larger than ${this.config.maxManifestBytes} bytes`);
  }

  private onFile(stream: Readable, name: string | undefined): void {
    const fault = this.fileFault(name ?? '');
    if (fault) {
      this.refuse(fault);
      stream.resume();
      return;
    }
    this.parts.add(stream);
    const written = this.write(stream, name ?? '').finally(() => this.parts.delete(stream));
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
    let head: Buffer = Buffer.alloc(0);
    const meter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        sizeBytes += chunk.length;
        this.totalBytes += chunk.length;
        hash.update(chunk);
        const missing = HEAD_BYTES - head.length;
        if (missing > 0) head = Buffer.concat([head, chunk.subarray(0, missing)]);
        const limit = this.config.maxSandboxBytes;
        if (this.totalBytes <= limit) {
          done(null, chunk);
          return;
        }
        this.tooLarge(`The files are larger than ${limit} bytes together`, limit);
        done(); // read on, keep nothing
      },
    });
    const index = this.files.push({ name, path, sizeBytes: 0, hash: '', head }) - 1;
    const file = this.open(path);
    file.once('error', (error) => this.cannotWrite(error));
    await pipeline(stream, meter, file);
    this.files[index] = { name, path, sizeBytes, hash: hash.digest('hex'), head };
  }

  private tooLarge(text: string, limit?: number): void {
    const members = limit === undefined ? {} : { limit };
    this.refuse(new Problem('request.too-large', text, { members }));
  }

  private cannotWrite(cause: Error): void {
    const detail = 'A file of the request cannot be kept';
    this.refuse(machineProblem(cause) ?? new Problem('service.failure', detail, { cause }));
  }

  private refuse(fault: Problem): void {
    this.fault ??= fault;
    this.faultAt ??= Date.now();
    this.stopWaiting();
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

function* piecesOf(chunk: Buffer): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
    yield chunk.subarray(at, at + PIECE_BYTES);
  }
}
