import type { FileHandle } from 'node:fs/promises';
import type { SpoolSpace } from './spool-space.js';

/** Text that is kept in memory; what is more goes to files. */
const MEMORY_BYTES = 1024 * 1024;
const FILE_BYTES = 32 * 1024 * 1024;
const READ_BYTES = 256 * 1024;

/** Whoever was to read has gone; nothing more is wanted. */
export class SpoolClosed extends Error {}

interface Part {
  file: FileHandle;
  written: number;
  read: number;
}

/**
 * Text between a writer that is not to wait and a reader that may be slow: what has been added and not been read yet
 * stands in memory up to 1 MiB, beyond that in unnamed files that vanish as they are read. One adds, one reads.
 */
export class AnswerSpool {
  private memory: Buffer[] = [];
  private memoryBytes = 0;
  /** Everything in the files is older than what is in memory. */
  private readonly parts: Part[] = [];
  private fileBytes = 0;
  private state: 'open' | 'ended' | 'closed' = 'open';
  private wake: () => void = () => undefined;
  private writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly space: SpoolSpace) {}

  /** Adds text. Throws SpoolClosed after `close`, and Problem 503 when there is no room for more. */
  async add(text: string): Promise<void> {
    if (this.state !== 'open') throw new SpoolClosed();
    if (text === '') return;
    const bytes = Buffer.from(text);
    this.memory.push(bytes);
    this.memoryBytes += bytes.length;
    if (this.memoryBytes > MEMORY_BYTES) {
      const writing = this.toFile(this.takeMemory());
      this.writing = writing.catch(() => undefined);
      await writing;
    }
    this.wake();
  }

  /** Nothing is kept now. */
  get isEmpty(): boolean {
    return this.memoryBytes === 0 && this.fileBytes === 0;
  }

  /** Nothing more will be added. */
  end(): void {
    if (this.state === 'open') this.state = 'ended';
    this.wake();
  }

  /** Everything in order, as it comes; ends after `end` or `close`. */
  async *read(): AsyncGenerator<Buffer> {
    while (this.state !== 'closed') {
      const [part] = this.parts;
      if (part && part.read < part.written) yield await readSome(part);
      else if (part && part.written >= FILE_BYTES) await this.drop();
      else if (this.memoryBytes > 0) yield this.takeMemory();
      else if (this.state === 'ended') return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Gives back everything that it holds; who adds or reads is told. */
  async close(): Promise<void> {
    this.state = 'closed';
    this.wake();
    this.takeMemory();
    await this.writing;
    for (const { file } of this.parts.splice(0)) await file.close();
    this.space.release(this.fileBytes);
    this.fileBytes = 0;
  }

  private takeMemory(): Buffer {
    const bytes = Buffer.concat(this.memory);
    this.memory = [];
    this.memoryBytes = 0;
    return bytes;
  }

  private async toFile(bytes: Buffer): Promise<void> {
    this.space.reserve(bytes.length, this.fileBytes);
    this.fileBytes += bytes.length;
    const last = this.parts.at(-1);
    const part = last && last.written < FILE_BYTES ? last : await this.newPart();
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await part.file.write(bytes, done, undefined, part.written);
      done += bytesWritten;
      part.written += bytesWritten;
    }
  }

  private async newPart(): Promise<Part> {
    const part = { file: await this.space.newFile(), written: 0, read: 0 };
    this.parts.push(part);
    return part;
  }

  private async drop(): Promise<void> {
    const part = this.parts.shift();
    if (!part) return;
    this.space.release(part.written);
    this.fileBytes -= part.written;
    await part.file.close();
  }
}

async function readSome(part: Part): Promise<Buffer> {
  const length = Math.min(READ_BYTES, part.written - part.read);
  const { buffer, bytesRead } = await part.file.read(Buffer.alloc(length), 0, length, part.read);
  part.read += bytesRead;
  return buffer.subarray(0, bytesRead);
}
