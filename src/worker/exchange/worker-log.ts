import { appendFileSync, renameSync, statSync } from 'node:fs';

const MOST_BYTES = 5 * 2 ** 20;

/**
 * The lines of the log of a worker: to its standard error, which the service reads of its own worker while it is there, and into a file
 * of at most 5 MiB beside one before it.
 */
export class WorkerLog {
  private bytes: number;

  constructor(private readonly path: string) {
    this.bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    process.stderr.on('error', () => undefined); // the service has ended
  }

  write(line: string): void {
    process.stderr.write(line);
    try {
      const size = Buffer.byteLength(line);
      if (this.bytes + size > MOST_BYTES) {
        renameSync(this.path, `${this.path}.1`);
        this.bytes = 0;
      }
      appendFileSync(this.path, line, { mode: 0o600 });
      this.bytes += size;
    } catch {
      // on a full disk the log of the service has to do
    }
  }
}
