import { once } from 'node:events';
import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { SandboxSpool } from '../sandbox/sandbox-spool.js';
import { LineSplitter } from './manifest-splitter.js';

const IN_MEMORY_CHARACTERS = 1024 * 1024;

/**
 * Lines of a request that may be large: the first ones in memory, many of them in a file of the spool. When the signal is
 * aborted, its reason is thrown instead of taking or giving a further line.
 */
export class LineSpool {
  private lines: string[] = [];
  private characters = 0;
  private path: string | undefined;
  private file: WriteStream | undefined;

  constructor(
    private readonly spool: SandboxSpool,
    private readonly signal: AbortSignal,
  ) {}

  /** Adds a line; it holds no line break. Throws what the file system throws. */
  async add(line: string): Promise<void> {
    this.signal.throwIfAborted();
    this.lines.push(line);
    this.characters += line.length;
    if (this.characters > IN_MEMORY_CHARACTERS) await this.toFile();
  }

  /** All lines when they are at most so many, of at most so many characters together; undefined when not. */
  few(mostLines: number, mostCharacters: number): readonly string[] | undefined {
    this.signal.throwIfAborted();
    const { lines, characters, path } = this;
    const isFew = path === undefined && lines.length <= mostLines && characters <= mostCharacters;
    return isFew ? lines : undefined;
  }

  /** All lines in order; nothing may be added any more. */
  async *read(): AsyncGenerator<string> {
    for await (const line of this.kept()) {
      this.signal.throwIfAborted();
      yield line;
    }
  }

  /** Removes the file. */
  async discard(): Promise<void> {
    this.lines = [];
    this.file?.destroy();
    if (this.path !== undefined) await rm(this.path, { force: true });
  }

  private async *kept(): AsyncGenerator<string> {
    const { file, path } = this;
    if (file && path !== undefined) {
      if (!file.writableEnded) file.end();
      await finished(file);
      const splitter = new LineSplitter(Infinity);
      for await (const piece of createReadStream(path)) {
        for (const line of splitter.push(piece as Buffer)) yield (line as Buffer).toString('utf8');
      }
    }
    yield* this.lines;
  }

  private async toFile(): Promise<void> {
    this.path ??= await this.spool.newPath();
    this.file ??= createWriteStream(this.path, { mode: 0o600 });
    const text = `${this.lines.join('\n')}\n`;
    this.lines = [];
    this.characters = 0;
    if (!this.file.write(text)) await once(this.file, 'drain'); // rejects on 'error'
  }
}
