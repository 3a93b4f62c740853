import { chownSync, mkdirSync, statfsSync } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pLimit from 'p-limit';
import { parseJson, sleep, stringifyJson, type Clock, type JsonObject } from '#src/kernel/index.js';
import type { Session } from '#src/http-client/index.js';
import type { Logger } from '#src/runtime/index.js';
import {
  fetchedNames,
  fetchedPaths,
  type InputSource,
  MINOR,
  type OpenedFile,
  RunFault,
  type RunService,
} from '#src/jobs/run/index.js';
import { replicaBytes, ReplicaFault } from '#src/storage-client/index.js';
import type { LocalRun } from './local-run.js';
import { partsOf, untilFault } from './until-fault.js';
import type { WorkerConfig } from './worker-config.js';

/** Files that arrive at once for one run. */
const AT_ONCE = 8;
/** Files that are opened by one request. */
const OPENED_AT_ONCE = 100;
/** While one of these requests is answered, files of the other arrive. */
const REQUESTS_AT_ONCE = 2;
/** What opens a replica is asked for anew when it ends so soon. */
const SPARE_MS = 60_000;
/** Before what could not be had is tried again; after the last one the run goes back. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
/** Bytes of a file that are written at once. */
const WRITTEN_BYTES = 262_144;
const SHOWN = 200;

/** A run cannot have its files now, and perhaps later or elsewhere. */
export class InputsAwayError extends Error {}

/** What fetching needs of a worker. */
export interface FetchParts {
  config: Pick<WorkerConfig, 'localMinFreeBytes'>;
  clock: Clock;
  logger: Pick<Logger, 'warn'>;
  service: Pick<RunService, 'openFetched'>;
  /** A way to storage elements for one run: cookies of one are not for another. */
  openStorage: () => Session;
}

interface FetchOfRunParts extends Pick<FetchParts, 'clock' | 'logger' | 'service'> {
  storage: Session;
  pausesMs: readonly number[];
  /** Throws InputsAwayError while the disk has no room for what is to come. */
  requireRoom: () => void;
  /** Told of bytes that are on the disk; less than nothing of those that are not any more. */
  arrived: (bytes: number) => void;
}

/**
 * Brings files of the catalogue into the directories of runs before these are the jobs': each whole, with the size and the checksum that
 * the catalogue knows, from the first replica that gives it so. What opens a replica is kept nowhere.
 */
export class InputFetcher {
  /** Bytes that are still to come, of all runs. */
  private promisedBytes = 0;

  constructor(
    private readonly parts: FetchParts,
    private readonly pausesMs = PAUSES_MS,
  ) {}

  /**
   * Fetches what a run lacks; answers the text that tells it where its input data lies, in `directory`, as the job sees it. Throws
   * RunFault for what is not so anywhere, InputsAwayError for what may be later, the file system's errors, and the reason of the signal.
   */
  async fetch(
    run: LocalRun,
    { directory, signal }: { directory: string; signal: AbortSignal },
  ): Promise<string | undefined> {
    const { text, fetched } = run.inputs;
    const bytes = fetched.reduce((sum, { size }) => sum + Number(size), 0);
    let left = 0;
    const requireRoom = (): void => {
      if (left > 0) return;
      this.requireRoom(run, bytes);
      this.promisedBytes += bytes - left;
      left = bytes;
    };
    const arrived = (some: number): void => {
      left -= some;
      this.promisedBytes -= some;
    };
    const { parts, pausesMs } = this;
    const storage = parts.openStorage();
    const what = { ...parts, storage, pausesMs, requireRoom, arrived };
    const one = new FetchOfRun(run, what);
    try {
      const paths = fetched.map(({ path }) => path);
      const limit = pLimit(REQUESTS_AT_ONCE);
      await untilFault(partsOf(paths, OPENED_AT_ONCE), { limit, signal }, (some, ends) =>
        one.fetch(some, ends),
      );
    } finally {
      this.promisedBytes -= left;
      await storage.close();
    }
    return text && withLocalPaths(text, one.origins, directory);
  }

  private requireRoom({ directory }: LocalRun, bytes: number): void {
    const { bavail, bsize } = statfsSync(directory.work);
    const free = bavail * bsize - this.parts.config.localMinFreeBytes - this.promisedBytes;
    if (bytes <= free) return;
    throw new InputsAwayError(`Its input data has ${bytes} bytes, for which no disk has room here`);
  }
}

/** One try of several files. */
interface Round {
  /** Storage elements that do not answer. */
  away: Set<string>;
  signal: AbortSignal;
}

/** The files of one run on their way. */
class FetchOfRun {
  /** Path → the name in the directory of the run and the storage element that it came from. */
  readonly origins = new Map<string, { name: string; se: string }>();
  private readonly fetching = pLimit(AT_ONCE);
  private readonly names: ReadonlyMap<string, string>;
  private readonly sandbox: ReadonlySet<string>;

  constructor(
    private readonly run: LocalRun,
    private readonly parts: FetchOfRunParts,
  ) {
    const { manifest } = run.order;
    this.names = fetchedNames(manifest);
    this.sandbox = new Set(fetchedPaths(manifest).sandbox);
  }

  async fetch(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const { pausesMs } = this.parts;
    const pauses = [...pausesMs];
    for (let missing = paths; ;) {
      const faults = await this.tryWithRoom(missing, signal);
      if (faults.size === 0) return;
      // What has brought something on is no try in vain.
      if (faults.size < missing.length) pauses.splice(0, pauses.length, ...pausesMs);
      const pause = pauses.shift();
      const [[path, fault] = ['', '']] = faults;
      if (pause === undefined) {
        throw new InputsAwayError(path === '' ? fault : `${shown(path)}: ${fault}`);
      }
      const { logger } = this.parts;
      logger.warn({ jid: this.run.key, path, fault }, 'a file of a job does not come');
      await sleep(pause, { signal });
      if (path !== '') missing = [...faults.keys()];
    }
  }

  /** The same as `tryAll`, or that there is no room, which is no fault of a path. */
  private async tryWithRoom(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    try {
      this.parts.requireRoom();
    } catch (error) {
      if (!(error instanceof InputsAwayError)) throw error;
      return new Map([['', error.message]]);
    }
    return this.tryAll(paths, signal);
  }

  /** Why those did not come that may come later. What ends one for good ends all, and nothing is under way any more when it is thrown. */
  private async tryAll(
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const opened = new Map((await this.open(paths, signal)).map((file) => [file.path, file]));
    const faults = new Map<string, string>();
    const away = new Set<string>();
    await untilFault(paths, { limit: this.fetching, signal }, async (path, ends) => {
      const file = opened.get(path);
      if (!file) throw this.faultOf(path, 'may not be read any more');
      const fault = await this.tryOne(file, { away, signal: ends });
      if (fault !== undefined) faults.set(path, fault);
    });
    return faults;
  }

  /** Fetches a file from the first source that has it. Answers why none gives it now; throws RunFault when none ever will. */
  private async tryOne(file: OpenedFile, { away, signal }: Round): Promise<string | undefined> {
    const found: string[] = [];
    let isLater = false;
    for (const source of file.sources) {
      const { se } = source;
      if (away.has(se)) {
        found.push(`${se} is away`);
        isLater = true;
        continue;
      }
      try {
        await this.write(file, await this.fresh(file, source, signal), signal);
        this.origins.set(file.path, { name: this.nameOf(file.path), se });
        return undefined;
      } catch (error) {
        if (!(error instanceof ReplicaFault)) throw error;
        found.push(`${se}: ${error.message}`);
        isLater ||= error.kind !== 'other';
        if (error.kind === 'away') away.add(se);
      }
    }
    const text = found.join('; ') || 'lies at no storage element with an address';
    if (isLater) return text;
    throw this.faultOf(file.path, text);
  }

  /** What ends soon is asked for once more. */
  private async fresh(
    { path }: OpenedFile,
    source: InputSource,
    signal: AbortSignal,
  ): Promise<InputSource> {
    if (Date.parse(source.expires) - this.parts.clock.now() > SPARE_MS) return source;
    const [file] = await this.open([path], signal);
    return file?.sources.find(({ se }) => se === source.se) ?? source;
  }

  private open(paths: readonly string[], signal: AbortSignal): Promise<OpenedFile[]> {
    const { service } = this.parts;
    return service.openFetched(this.run.order, paths, signal);
  }

  private async write(file: OpenedFile, source: InputSource, signal: AbortSignal): Promise<void> {
    const { storage, arrived } = this.parts;
    const target = this.placeOf(file.path);
    const handle = await open(target, 'wx', 0o600).catch((error: unknown) => {
      throw this.taken(file.path, error);
    });
    let isWhole = false;
    let written = 0;
    try {
      const { size, checksum } = file;
      const pieces = replicaBytes(storage, { ...source, size, checksum }, signal);
      for await (const some of together(pieces)) {
        const bytes = await writeAll(handle, some);
        written += bytes;
        arrived(bytes);
      }
      const { uid } = this.run;
      if (uid !== undefined) await handle.chown(uid, uid);
      isWhole = true;
    } finally {
      await handle.close();
      if (!isWhole) {
        await rm(target, { force: true });
        arrived(-written);
      }
    }
  }

  /** Where a file comes to lie; makes the directories on the way to it. */
  private placeOf(path: string): string {
    const { work } = this.run.directory;
    const { uid } = this.run;
    const name = this.nameOf(path);
    const parts = dirname(name) === '.' ? [] : dirname(name).split('/');
    let directory = work;
    for (const part of parts) {
      directory = join(directory, part);
      try {
        mkdirSync(directory, { mode: 0o700 });
        if (uid !== undefined) chownSync(directory, uid, uid);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw this.taken(path, error);
      }
    }
    return join(work, name);
  }

  private nameOf(path: string): string {
    const name = this.names.get(path) ?? '';
    const isBelow = name.split('/').every((part) => !['', '.', '..'].includes(part));
    if (!isBelow) throw this.faultOf(path, 'has no name for a file');
    return name;
  }

  /** Something of the job stands where the file is to be. */
  private taken(path: string, error: unknown): unknown {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(code)) return error;
    return this.faultOf(path, `cannot be written as ${shown(this.nameOf(path))} (${code})`);
  }

  private faultOf(path: string, text: string): RunFault {
    const minor = this.sandbox.has(path) ? MINOR.inputFilesFailed : MINOR.inputResolution;
    return new RunFault(minor, `${shown(path)}: ${text}`);
  }
}

/** The pieces, some of them together: each write costs as much as its bytes. */
async function* together(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let some: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    some.push(piece);
    bytes += piece.length;
    if (bytes < WRITTEN_BYTES) continue;
    yield some;
    [some, bytes] = [[], 0];
  }
  if (some.length > 0) yield some;
}

/** Writes the pieces, and answers their bytes. */
async function writeAll(handle: FileHandle, pieces: Uint8Array[]): Promise<number> {
  let bytes = 0;
  for (let left = pieces; left.length > 0;) {
    let { bytesWritten: over } = await handle.writev(left);
    bytes += over;
    left = left.flatMap((piece) => {
      const own = Math.min(over, piece.length);
      over -= own;
      return own < piece.length ? [piece.subarray(own)] : [];
    });
  }
  return bytes;
}

/** The text with the files that are there: each is its own first replica. */
function withLocalPaths(
  text: string,
  origins: ReadonlyMap<string, { name: string; se: string }>,
  directory: string,
): string {
  const told = parseJson(text) as Record<string, JsonObject>;
  for (const [path, { name, se }] of origins) {
    const entry = told[`LFN:${path}`];
    if (!entry) continue;
    const local = { url: pathToFileURL(join(directory, name)).href, se };
    const others = Array.isArray(entry['replicas']) ? entry['replicas'] : [];
    entry['replicas'] = [local, ...others];
  }
  return `${stringifyJson(told)}\n`;
}

function shown(path: string): string {
  return path.slice(0, SHOWN);
}
