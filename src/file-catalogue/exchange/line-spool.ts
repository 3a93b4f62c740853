import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

const IN_MEMORY_CHARACTERS = 4 * 1024 * 1024;

/**
 * Lines that are kept until they can be sent: the first ones in memory, many of them in a temporary file. A client
 * that reads the answer only after it has sent everything would otherwise block itself or fill the memory.
 */
export class LineSpool {
  private pieces: string[] = [];
  private length = 0;
  private directory: string | undefined;
  private file: WriteStream | undefined;

  /** Adds a line. */
  async add(line: string): Promise<void> {
    this.pieces.push(line, '\n');
    this.length += line.length + 1;
    if (this.length >= IN_MEMORY_CHARACTERS) await this.toFile();
  }

  /** All lines in order, in pieces. */
  async *read(): AsyncGenerator<string> {
    const { file, directory } = this;
    if (file && directory !== undefined) {
      file.end();
      await finished(file);
      const stored = createReadStream(join(directory, 'lines'), { encoding: 'utf8' });
      for await (const piece of stored) yield piece as string;
    }
    yield this.pieces.join('');
  }

  /** Removes the temporary file. */
  async close(): Promise<void> {
    this.file?.destroy();
    if (this.directory !== undefined) await rm(this.directory, { recursive: true, force: true });
  }

  private async toFile(): Promise<void> {
    this.directory ??= await mkdtemp(join(tmpdir(), 'gridgate-bulk-'));
    this.file ??= createWriteStream(join(this.directory, 'lines'), { mode: 0o600 });
    const text = this.pieces.join('');
    this.pieces = [];
    this.length = 0;
    if (!this.file.write(text)) await once(this.file, 'drain');
  }
}
