import pLimit from 'p-limit';
import { sleep } from '#src/kernel/index.js';
import {
  OutputFinder,
  type OpenedOutput,
  type OutputPlaces,
  type RunOrder,
  type RunService,
  shownName,
  outputPlaces,
  isPattern,
  storedNames,
} from '#src/jobs/run/index.js';
import { digestsOf, ReplicaFault, sendBytes, type Digests } from '#src/storage-client/index.js';
import { partsOf, untilFault } from './until-fault.js';

/** Files of one run that are sent at once. */
const AT_ONCE = 8;
/** Files of all runs that are sent, or read for their digests, at once. */
const ALL_AT_ONCE = 32;
const DIGESTS_AT_ONCE = 2;
/** Files that are begun by one request: so many that a slow element answers for all of them in the time of a request. */
const BEGUN_AT_ONCE = 32;
/** So many of these requests of a run at once: while one is answered, files of others are read and sent. */
const REQUESTS_AT_ONCE = 3;
/** What lets a file in is asked for anew when so much of its time is over. */
const USED_SHARE = 0.8;
const MOST_FILES = 1_000;
const READ_BYTES = 262_144;
const MOST_LOOKED_AT = 100_000;
/** Before a file is sent again to an element that is away; after the last one the next element is tried. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 60_000, 60_000, 60_000];

/** A run cannot store its files: the job fails with this. */
export class StoreFault extends Error {}

/** What storing needs of a worker. */
export interface StoreParts {
  service: Pick<RunService, 'openOutputs' | 'arrivedOutputs'>;
  config: { storageTimeout: number };
  /** File of CAs; true: those of the machine. */
  storageCa: string | true;
}

/** A file on its way. */
interface Sent extends Digests {
  name: string;
  /** Elements that did not take it, and why. */
  failed: string[];
  reasons: string[];
  tries: number;
  /** The element has refused it, or keeps something else: it is not asked again. */
  isRefused: boolean;
}

/**
 * Stores files of runs that have ended well: each is digested, sent to the element that the service names, and looked at there by the
 * service; where an element does not take it, to the next one.
 */
export class OutputStore {
  private readonly sending = pLimit(ALL_AT_ONCE);
  private readonly digesting = pLimit(DIGESTS_AT_ONCE);
  /** Files have gone to S3, and others will. */
  private withMd5 = false;

  constructor(
    private readonly parts: StoreParts,
    private readonly pausesMs = PAUSES_MS,
  ) {}

  /** Answers patterns without a file. Throws StoreFault for what is not stored, and the reason of the signal. */
  async store(order: RunOrder, places: OutputPlaces, signal: AbortSignal): Promise<string[]> {
    const finder = await OutputFinder.open(places, MOST_LOOKED_AT);
    const placeOf = outputPlaces(order);
    const names = new Set<string>();
    const byPath = new Map<string, string>();
    const missing: string[] = [];
    for (const wanted of storedNames(order)) {
      const found = await finder.find(wanted);
      if (found.length === 0 && !isPattern(wanted))
        throw new StoreFault(leftOutOf(finder) ?? `${shownName(wanted)} was not made`);
      if (found.length === 0) missing.push(wanted);
      for (const { name, linkTo, isDirectory } of found) {
        const place = linkTo === undefined && !isDirectory ? placeOf(name) : undefined;
        if (!place)
          throw new StoreFault(
            `${shownName(name)} is no file, but a link or in a directory that is named`,
          );
        const other = byPath.get(place.path) ?? name;
        if (other !== name)
          throw new StoreFault(`${shownName(other)} and ${shownName(name)} would be ${place.path}`);
        byPath.set(place.path, name);
        names.add(name);
      }
    }
    if (finder.isCut) throw new StoreFault('there are too many files to look through');
    const leftOut = leftOutOf(finder);
    if (leftOut !== undefined) throw new StoreFault(leftOut);
    if (names.size > MOST_FILES)
      throw new StoreFault(`there are ${names.size} files, at most ${MOST_FILES} are stored`);
    const limit = pLimit(REQUESTS_AT_ONCE);
    await untilFault(partsOf([...names], BEGUN_AT_ONCE), { limit, signal }, async (some, ends) => {
      const digested = some.map((name) => this.digesting(() => this.digest(finder, name, ends)));
      await this.storeSome(order, finder, await Promise.all(digested), ends);
    });
    return missing;
  }

  private async digest(finder: OutputFinder, name: string, signal: AbortSignal): Promise<Sent> {
    const { withMd5 } = this;
    const digests = await digestsOf(bytesOf(finder, name, { signal }), { withMd5 });
    return { name, ...digests, failed: [], reasons: [], tries: 0, isRefused: false };
  }

  /** Adds its MD5. */
  private async digestAgain(finder: OutputFinder, file: Sent, signal: AbortSignal): Promise<void> {
    this.withMd5 = true;
    const { sha256, md5 } = await this.digesting(() => this.digest(finder, file.name, signal));
    if (sha256 !== file.sha256) throw hasChanged(file.name);
    file.md5 = md5;
  }

  private async storeSome(
    order: RunOrder,
    finder: OutputFinder,
    files: readonly Sent[],
    signal: AbortSignal,
  ): Promise<void> {
    for (let missing = [...files]; missing.length > 0;) {
      const opened = await this.parts.service.openOutputs(order, missing, signal);
      const openedAt = Date.now();
      const byName = new Map(opened.map((one) => [one.name, one]));
      const sent: Sent[] = [];
      /** What would let them in ends too soon, or needs their MD5: asked for anew. */
      const again: Sent[] = [];
      const seOf = new Map<Sent, string>();
      let unstored: StoreFault | undefined;
      await pLimit(AT_ONCE).map(missing, async (file) => {
        const place = byName.get(file.name);
        if (unstored || !place || 'isThere' in place) return;
        if ('fault' in place) {
          unstored = new StoreFault(faultText(file, place.fault));
          return;
        }
        if ('needs' in place) {
          await this.digestAgain(finder, file, signal);
          again.push(file);
          return;
        }
        if ('away' in place) {
          seOf.set(file, place.se);
          file.reasons.push(place.away);
          return;
        }
        await this.sending(async () => {
          if (isUsedUp(place, openedAt)) {
            again.push(file);
            return;
          }
          seOf.set(file, place.se);
          if (await this.send(finder, file, place, signal)) sent.push(file);
        });
      });
      if (unstored) throw unstored;
      const arrived = await this.arrived(order, sent, signal);
      missing = missing.filter(
        (file) => again.includes(file) || (seOf.has(file) && !arrived.has(file)),
      );
      const failed = missing.filter((file) => !again.includes(file));
      if (failed.length > 0) await this.rest(failed, seOf, signal);
    }
  }

  /** Those that the service has found at their element. */
  private async arrived(
    order: RunOrder,
    sent: readonly Sent[],
    signal: AbortSignal,
  ): Promise<Set<Sent>> {
    if (sent.length === 0) return new Set();
    const names = sent.map(({ name }) => name);
    const looked = await this.parts.service.arrivedOutputs(order, names, signal);
    const byName = new Map(looked.map((one) => [one.name, one]));
    const isThere = (file: Sent): boolean => {
      const { away, fault = away } = byName.get(file.name) ?? { fault: 'nobody looked at it' };
      if (fault === undefined) return true;
      file.reasons.push(fault);
      file.isRefused = away === undefined;
      return false;
    };
    return new Set(sent.filter(isThere));
  }

  /** Before the next round; what was tried often enough goes to another element. */
  private async rest(
    missing: readonly Sent[],
    seOf: ReadonlyMap<Sent, string>,
    signal: AbortSignal,
  ): Promise<void> {
    let pause = 0;
    for (const file of missing) {
      const next = file.isRefused ? undefined : this.pausesMs[file.tries];
      file.tries += 1;
      if (next !== undefined) pause = Math.max(pause, next);
      else {
        file.failed.push(seOf.get(file) ?? '');
        Object.assign(file, { tries: 0, isRefused: false });
      }
    }
    await sleep(pause, { signal });
  }

  private async send(
    finder: OutputFinder,
    file: Sent,
    place: Extract<OpenedOutput, { url: string }>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { storageCa: ca, config } = this.parts;
    const bytes = (): AsyncIterable<Uint8Array> =>
      bytesOf(finder, file.name, { signal, size: file.size, areKept: true });
    try {
      const silenceMs = config.storageTimeout * 1000;
      await sendBytes(place, { size: file.size, bytes, ca, silenceMs, signal });
      return true;
    } catch (error) {
      if (!(error instanceof ReplicaFault)) throw error;
      file.reasons.push(`${place.se}: ${error.message}`);
      const hasEnded = Date.parse(place.expires) < Date.now();
      file.isRefused = error.kind !== 'away' && !hasEnded;
      return false;
    }
  }
}

/** What was wanted and cannot be stored, and why. */
function leftOutOf({ leftOut }: OutputFinder): string | undefined {
  const [[name, reason] = []] = leftOut;
  return name === undefined ? undefined : `${shownName(name)}: ${reason}`;
}

/** By the time that has gone by here: the clock of the service may be another. */
function isUsedUp({ expires }: { expires: string }, openedAt: number): boolean {
  const life = Date.parse(expires) - openedAt;
  return life > 0 && Date.now() - openedAt > life * USED_SHARE;
}

function faultText({ name, reasons }: Sent, fault: string): string {
  const last = reasons.at(-1);
  return `${shownName(name)}: ${last === undefined ? fault : `${last}; ${fault}`}`;
}

function hasChanged(name: string): StoreFault {
  return new StoreFault(`${shownName(name)} has changed while it was stored`);
}

/** The bytes of a plain file of the job; each piece until the next one, where they are not kept. Throws StoreFault when it is none any more. */
async function* bytesOf(
  finder: OutputFinder,
  name: string,
  { signal, size, areKept = false }: { signal: AbortSignal; size?: number; areKept?: boolean },
): AsyncGenerator<Uint8Array> {
  const opened = await finder.openPlain(name);
  if (!opened)
    throw new StoreFault(`${shownName(name)}: ${finder.leftOut.get(name) ?? 'it cannot be read'}`);
  const { handle, info } = opened;
  try {
    if (size !== undefined && info.size !== size) throw hasChanged(name);
    let buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, info.size));
    for (let from = 0; from < info.size;) {
      const { bytesRead } = await handle.read(buffer, { position: from });
      signal.throwIfAborted();
      if (bytesRead === 0) return;
      from += bytesRead;
      yield buffer.subarray(0, bytesRead);
      if (areKept) buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, info.size - from));
    }
  } finally {
    await handle.close();
  }
}
