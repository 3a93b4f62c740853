import { rm } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import { CLOCK } from '#src/platform/index.js';
import { packArchive, type ArchiveFile } from './sandbox-archive.js';
import { SandboxRepository, type Sandbox } from './sandbox.repository.js';
import { SandboxSpool } from './sandbox-spool.js';
import { SANDBOX_STORE, type SandboxStore } from './sandbox.store.js';

/** Packs files into archives and keeps them: the database row first, then the bytes, then the job that uses them. */
@Injectable()
export class SandboxService {
  constructor(
    private readonly repository: SandboxRepository,
    private readonly spool: SandboxSpool,
    @Inject(SANDBOX_STORE) private readonly store: SandboxStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Packs and stores files; answers the hash that jobs refer to. */
  async keep(files: readonly ArchiveFile[]): Promise<string> {
    const path = await this.spool.newPath();
    try {
      const archive = await packArchive(files, path);
      const entries = files.map(({ name, sizeBytes }) => ({ name, size: sizeBytes }));
      const { hash, sizeBytes } = archive;
      const now = new Date(this.clock.now());
      await this.repository.touch({ hash, sizeBytes, files: entries }, now);
      await this.store.put(archive);
      return hash;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** What is known of an archive; undefined when it was never kept or has been cleaned. */
  async describe(hash: string): Promise<Sandbox | undefined> {
    return this.repository.find(hash);
  }
}
