import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineFaultOf, randomId } from '#src/kernel/index.js';
import type { Readiness } from './readiness.js';
import type { Metrics } from './metrics.js';

/** A block of most file systems: a smaller file may find room where nothing else does. */
const TRIAL = Buffer.alloc(4096, 1);
/** Whoever asks for the state again within this time gets the same answer: probes are open to everybody. */
const KNOWN_MS = 2_000;

/** The directory where a module writes its files, made when it is not there. */
type PlaceOfFiles = () => Promise<string>;

/**
 * Where the service writes files. An instance that cannot write in one of them goes on answering what needs no file, so it
 * is degraded and not away: `/health/ready` says so, and the metrics.
 */
export class DiskPlaces {
  private readonly places = new Map<string, WrittenPlace>();

  constructor(
    private readonly readiness: Readiness,
    metrics: Metrics,
  ) {
    const writable = 'Whether files can be written in a place of this instance';
    metrics.gauge('gridgate_disk_writable', writable, ['place'], async (gauge) => {
      for (const [place, written] of this.places) {
        gauge.set({ place }, (await written.fault()) === undefined ? 1 : 0);
      }
    });
    const free = 'Bytes that are free for files in a place of this instance';
    metrics.gauge('gridgate_disk_free_bytes', free, ['place'], async (gauge) => {
      for (const [place, written] of this.places) {
        const bytes = await written.freeBytes();
        if (bytes !== undefined) gauge.set({ place }, bytes);
      }
    });
  }

  /** Adds a place under the name by which probes and metrics tell it. */
  add(name: string, place: PlaceOfFiles): void {
    const written = new WrittenPlace(place);
    this.places.set(name, written);
    this.readiness.add(name, () => written.fault(), { isNeeded: false });
  }
}

/** One directory, in which a file is written for a trial when somebody asks. */
class WrittenPlace {
  private answer: Promise<string | undefined> | undefined;
  private askedMs = 0;

  constructor(private readonly place: PlaceOfFiles) {}

  /** Why nothing can be written there; undefined when something can. */
  fault(): Promise<string | undefined> {
    const now = Date.now();
    if (this.answer === undefined || now - this.askedMs >= KNOWN_MS) {
      this.askedMs = now;
      this.answer = this.trial();
    }
    return this.answer;
  }

  /** Undefined where nobody can say. */
  async freeBytes(): Promise<number | undefined> {
    try {
      const { bavail, bsize } = await statfs(await this.place());
      return bavail * bsize;
    } catch {
      return undefined;
    }
  }

  private async trial(): Promise<string | undefined> {
    try {
      await tryToWrite(await this.place());
      return undefined;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return `files cannot be written: ${machineFaultOf(error) ?? code ?? message}`;
    }
  }
}

/** Writes a file in a directory and removes it. Throws what the file system throws. */
async function tryToWrite(directory: string): Promise<void> {
  const path = join(directory, `.trial-${randomId()}`);
  try {
    await writeFile(path, TRIAL, { flag: 'wx', mode: 0o600 });
  } finally {
    await rm(path, { force: true });
  }
}
