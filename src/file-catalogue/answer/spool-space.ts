import { randomBytes } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';

/** One answer may keep this part of the space. */
const PART_OF_ONE = 4;

/** The room on disk that answers share which are read more slowly than the database gives them (GRID_ANSWER_SPOOL). */
@Injectable()
export class SpoolSpace {
  private readonly directory: string;
  private readonly total: number;
  private used = 0;

  constructor(@Inject(CONFIG) config: Pick<Config, 'homePath' | 'answerSpool'>) {
    this.directory = join(config.homePath, 'answers');
    this.total = config.answerSpool;
  }

  /** A file without a name: it ends with the process, however that ends. */
  async newFile(): Promise<FileHandle> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const path = join(this.directory, randomBytes(9).toString('hex'));
    const file = await open(path, 'wx+', 0o600);
    await rm(path);
    return file;
  }

  /** Reserves bytes for an answer that holds some already. Throws Problem 503 when there is no room. */
  reserve(bytes: number, held: number): void {
    if (this.used + bytes > this.total || held + bytes > this.total / PART_OF_ONE) {
      const detail = 'Too much of the answers under way waits for readers that are slow';
      throw new Problem('service.overloaded', detail, { retryAfterSeconds: 10 });
    }
    this.used += bytes;
  }

  /** Gives reserved bytes back. */
  release(bytes: number): void {
    this.used -= bytes;
  }
}
