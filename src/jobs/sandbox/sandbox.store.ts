import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '#src/config/index.js';
import type { ByteRange } from '#src/http/index.js';

/** An archive on its way into the store: in memory when it is small, else a spooled file that the store may take. */
export type NewArchive = {
  /** SHA-256 of the archive, hexadecimal: its name in every store. */
  hash: string;
  sizeBytes: number;
} & ({ content: Buffer } | { path: string });

/** An archive as it was kept. */
export type KeptArchive = Pick<NewArchive, 'hash' | 'sizeBytes'>;

/**
 * Bytes by content hash. A store knows no jobs and no owners: who may read is decided before it is asked, and the
 * same content of two jobs is kept once. All operations may be repeated.
 */
export interface SandboxStore {
  /** Keeps the archive; when it returns the bytes are safe. Does nothing when they are there already. */
  put(archive: NewArchive): Promise<void>;
  /**
   * The bytes, or part of them. Throws SandboxMissingError when the store does not have them, SandboxDamagedError when it
   * has another number of them than `sizeBytes`, the number that was kept, and Problem 503 while it is away.
   */
  open(hash: string, wish?: { sizeBytes: number; range?: ByteRange }): Promise<Readable>;
  /** Forgets the bytes; not there is fine. */
  remove(hash: string): Promise<void>;
  /**
   * A URL that hands out the bytes directly for a short while, when the store can make one. Throws as `open` does, for
   * nobody looks at them on their way.
   */
  presign?(sandbox: KeptArchive, fileName: string): Promise<string>;
}

/** Injection token of the SandboxStore. */
export const SANDBOX_STORE = Symbol('SandboxStore');

/** The store does not have the bytes that the database says it has. */
export class SandboxMissingError extends Error {
  constructor(hash: string, options?: ErrorOptions) {
    super(`the sandbox store has no ${hash}`, options);
    this.name = 'SandboxMissingError';
  }
}

/** The store has other bytes than those that were kept. */
export class SandboxDamagedError extends Error {
  /** `problem` says how they differ. */
  constructor(
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`a sandbox is damaged: ${problem}`, options);
    this.name = 'SandboxDamagedError';
  }

  /** Throws when another number of bytes is there than was kept. */
  static refuseSize(found: number, kept: number): void {
    if (found === kept) return;
    throw new SandboxDamagedError(`${found} bytes are there, and ${kept} were kept`);
  }
}

/** The directory of the sandboxes of this instance: the store's own when that is a directory. */
export function sandboxDirectory(config: Pick<Config, 'sandboxStore' | 'homePath'>): string {
  if (config.sandboxStore !== '' && !config.sandboxStore.startsWith('s3://'))
    return config.sandboxStore;
  return join(config.homePath, 'sandboxes');
}
