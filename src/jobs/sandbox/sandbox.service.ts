import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { repackArchive, type ArchiveLimits } from './repack-archive.js';
import { packArchive, type ArchiveFile } from './sandbox-archive.js';
import type { SandboxEntity, SandboxFile } from './sandbox.entity.js';
import { SandboxRepository } from './sandbox.repository.js';
import { SandboxSpool } from './sandbox-spool.js';
import { SANDBOX_STORE, type NewArchive, type SandboxStore } from './sandbox.store.js';

const RECENT_MS = 60_000;
const MAX_RECENT = 1_000;

/** Packs files into archives and keeps them: the database row first, then the bytes, then the job that uses them. */
@Injectable()
export class SandboxService {
  /** Short jobs give the same (empty) output again and again: it is stored once a minute. */
  private readonly recent = new Map<string, number>();

  constructor(
    private readonly repository: SandboxRepository,
    private readonly spool: SandboxSpool,
    @Inject(SANDBOX_STORE) private readonly store: SandboxStore,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Packs and stores files; answers the hash that jobs refer to. */
  async keep(files: readonly ArchiveFile[]): Promise<string> {
    const path = await this.spool.newPath();
    let archive: NewArchive | undefined;
    try {
      const packed = await packArchive(files, path);
      archive = packed;
      await this.place(packed, files);
      return packed.hash;
    } finally {
      if (!archive || 'path' in archive) await rm(path, { force: true });
    }
  }

  /** Keeps an archive that somebody else has packed; answers its hash here. Throws what repackArchive throws. */
  async keepArchive(source: Readable, limits: ArchiveLimits): Promise<string> {
    const path = await this.spool.newPath();
    try {
      const { archive, files } = await repackArchive(source, limits, path);
      await this.place(archive, files);
      return archive.hash;
    } finally {
      await rm(path, { force: true });
    }
  }

  private async place(archive: NewArchive, files: readonly ArchiveFile[]): Promise<void> {
    const { hash, sizeBytes } = archive;
    const now = this.clock.now();
    const kept = this.recent.get(hash);
    if (kept !== undefined && now - kept < RECENT_MS) return;
    const entries = entriesOf(files, now);
    await this.repository.touch({ hash, sizeBytes, files: entries }, new Date(now));
    await this.store.put(archive);
    if (this.recent.size >= MAX_RECENT) this.recent.clear();
    this.recent.set(hash, now);
  }

  /** What is known of an archive; undefined when it was never kept or has been cleaned. */
  async describe(hash: string): Promise<SandboxEntity | undefined> {
    return this.repository.find(hash);
  }
}

/** The list of an archive. A link has size and mode of the file that somebody reads through it; no time is before 1970 or still to come. */
function entriesOf(files: readonly ArchiveFile[], now: number): SandboxFile[] {
  const plain = new Map(files.map((file) => [file.name, file]));
  return files.map(({ name, sizeBytes: size, content, modifiedAt, isExecutable }) => {
    if ('linkTo' in content) {
      const target = plain.get(content.linkTo);
      const executable = target?.isExecutable && { executable: true as const };
      return { name, size: target?.sizeBytes ?? 0, link: content.linkTo, ...executable };
    }
    if ('isDirectory' in content) return { name, size, directory: true };
    return {
      ...{ name, size },
      ...(isExecutable && { executable: true }),
      ...(modifiedAt &&
        modifiedAt.getTime() >= 0 && {
          modified: Math.floor(Math.min(now, modifiedAt.getTime()) / 1_000),
        }),
    };
  });
}
