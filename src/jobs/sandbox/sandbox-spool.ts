import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '#src/config/index.js';
import { DiskPlaces, hasEnded, processMark } from '#src/runtime/index.js';
import { sandboxDirectory } from './sandbox.store.js';

/** What a process of another machine has left is removed after so long. */
const ABANDONED_MS = 24 * 3600_000;
const NAME = /^(?:in|out)-([0-9a-f]+\.\d+\.\d+)-/;

/** Files on their way in: uploads and archives that are being packed. Nothing here is anybody's yet. */
@Injectable()
export class SandboxSpool {
  private readonly directory: string;
  private readonly mark = processMark();
  private ready: Promise<unknown> | undefined;

  constructor(@Inject(CONFIG) config: Config, places: DiskPlaces) {
    this.directory = join(sandboxDirectory(config), 'spool');
    places.add('sandboxes', async () => {
      await this.prepare();
      return this.directory;
    });
  }

  /** A fresh directory; the caller removes it. */
  async newDirectory(): Promise<string> {
    await this.prepare();
    return mkdtemp(join(this.directory, `in-${this.mark}-`));
  }

  /** A path for one new file; the caller moves or removes it. */
  async newPath(): Promise<string> {
    await this.prepare();
    return join(this.directory, `out-${this.mark}-${randomBytes(9).toString('hex')}`);
  }

  /** Removes what a crash has left behind. Instances with one store share its spool, so nothing of a process that lives is touched. */
  async clean(now: number): Promise<void> {
    await this.prepare();
    for (const name of await readdir(this.directory)) {
      const path = join(this.directory, name);
      const info = await stat(path).catch(() => undefined);
      if (!info) continue;
      const mark = NAME.exec(name)?.[1];
      const isLeft = mark !== undefined && hasEnded(mark);
      if (isLeft || now - info.mtimeMs > ABANDONED_MS) {
        await rm(path, { recursive: true, force: true });
      }
    }
  }

  private async prepare(): Promise<void> {
    this.ready ??= mkdir(this.directory, { recursive: true, mode: 0o700 });
    try {
      await this.ready;
    } catch (error) {
      this.ready = undefined; // a full disk will have room again
      throw error;
    }
  }
}
