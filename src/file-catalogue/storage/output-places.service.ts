import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { StorageTokens, type Principal } from '#src/auth/index.js';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { readChain } from '../namespace/directory-chain.repository.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { filePathFault, parentPath } from '../path/catalogue-path.js';
import type { FileReserve } from '../writing/catalogue-line.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import { ElementAwayError, isAway, OutputElements } from './output-elements.service.js';
import {
  bytesOfJob,
  claimLeft,
  forgetOf,
  giveUp,
  holdsPath,
  leave,
  letRunIn,
  moveBytes,
  workAt,
  type BytesRun,
  type RunBytes,
} from './run-bytes.repository.js';
import { StorageKeys, type Key, type KeyPlace } from './storage-keys.js';

/** Of what lets bytes of runs in. */
const KEY_SECONDS = 900;
/** So long after its end storages may still take bytes. */
const LATE_MS = 120_000;
const AT_ONCE = 8;
/** Longer than a request needs to look at an element and to clean a place there; another one for the same file waits so long. */
const LEASE_MS = 90_000;
const BUSY = 'an earlier request for it is under way';

/** A file that a run stores. */
export interface OutputFile {
  path: string;
  /** Bytes. */
  size: number;
  /** Hexadecimal. */
  adler32: string;
  sha256: string;
  /** Only S3 needs it. */
  md5?: string | undefined;
  /** Storage elements, in the order in which they are tried; absent: all. */
  ses?: readonly string[] | undefined;
  /** Those to which it could not be written. */
  failed: readonly string[];
}

/**
 * Where a file is to be written, and what lets it in; that it is there; that its element is away, or has to be told its MD5 beforehand; or why
 * it cannot be stored.
 */
export type OpenedOutput = { path: string } & (
  | (Key & { se: string; url: string })
  | { isThere: true }
  | { needs: 'md5' }
  | { se: string; away: string }
  | { fault: string }
);

/** A file of a run, whose it is, and what earlier tries have left of it. */
interface OwnOutput {
  principal: Principal;
  run: BytesRun;
  file: OutputFile;
  left: readonly RunBytes[];
}

/** A file, where its bytes are awaited. */
interface Awaited extends KeyPlace {
  file: OutputFile;
}

/**
 * Where files of runs go: their paths are held, what earlier tries have left is removed, and bytes are let in. A request works at a file
 * alone for a time: one that goes on although nobody waits for it removes nothing that a later one has let in.
 */
@Injectable()
export class OutputPlaces {
  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
    private readonly tokens: StorageTokens,
    private readonly keys: StorageKeys,
    private readonly elements: OutputElements,
    private readonly writer: CatalogueWriter,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** What became of each of the files, in their order. */
  async open(
    principal: Principal,
    run: BytesRun,
    files: readonly OutputFile[],
  ): Promise<OpenedOutput[]> {
    const noHome = await this.makeHome(principal, files);
    if (noHome !== undefined) return files.map(({ path }) => ({ path, fault: noHome }));
    let known = await this.bytesOf(run);
    const fresh = files.filter(({ path }) => !known.has(path));
    if (await this.holdAll(principal, run, fresh)) known = await this.bytesOf(run);
    const opened = new Map<string, OpenedOutput>();
    const awaited: Awaited[] = [];
    await pLimit(AT_ONCE).map(files, async (file) => {
      const all = known.get(file.path) ?? [];
      const own = all.find(({ state, attempt }) => state === 'arriving' && attempt === run.attempt);
      const left = all.filter(({ state }) => state === 'removing');
      const found = await this.placeOf({ principal, run, file, left }, own);
      if ('element' in found) awaited.push(found);
      else opened.set(file.path, found);
    });
    for (const one of await this.openAll(principal, awaited)) opened.set(one.path, one);
    return files.flatMap(({ path }) => opened.get(path) ?? []);
  }

  /** What belongs to the job, by path: what arrives for the run, or for a later one, and what is to be removed. */
  private async bytesOf(run: BytesRun): Promise<Map<string, RunBytes[]>> {
    const all = await bytesOfJob(this.database, run.jid);
    const earlier = all.filter(
      ({ attempt, state }) => attempt < run.attempt && state === 'arriving',
    );
    if (earlier.length > 0) {
      const attempts = [...new Set(earlier.map(({ attempt }) => attempt))];
      await this.abandon(attempts.map((attempt) => ({ jid: run.jid, attempt })));
      return this.bytesOf(run);
    }
    const byPath = new Map<string, RunBytes[]>();
    for (const bytes of all) byPath.set(bytes.path, [...(byPath.get(bytes.path) ?? []), bytes]);
    return byPath;
  }

  /** Nobody waits for these runs: their bytes are removed when nothing lets more of them in. */
  async abandon(runs: readonly BytesRun[]): Promise<void> {
    const due = new Date(this.clock.now() + KEY_SECONDS * 1000 + LATE_MS);
    await this.database.transaction((transaction) => giveUp(transaction, runs, due));
  }

  /** Where the bytes of a file go, that they are there, or why they go nowhere. */
  private async placeOf(
    one: OwnOutput,
    own: RunBytes | undefined,
  ): Promise<Awaited | OpenedOutput> {
    const { file } = one;
    const { path } = file;
    if (own?.has_arrived) {
      const isSame = BigInt(own.size) === BigInt(file.size) && own.sha256 === file.sha256;
      return isSame
        ? { path, isThere: true }
        : { path, fault: `another file of the job is ${path}` };
    }
    try {
      const fault = filePathFault(path);
      if (fault !== undefined) return { path, fault: `${path} ${fault}` };
      return await this.hold(one, own !== undefined);
    } catch (error) {
      if (error instanceof ElementAwayError) return { path, se: error.se, away: error.message };
      if (error instanceof Problem && error.status < 500) return { path, fault: error.detail };
      throw error;
    }
  }

  /** Holds the path at the first element where nothing is in the way. */
  private async hold(one: OwnOutput, isHeld: boolean): Promise<Awaited | OpenedOutput> {
    const { run, file } = one;
    const { path } = file;
    const tried = new Set(file.failed);
    const faults: string[] = [];
    if (!isHeld) {
      const first = await this.next(one, tried, faults);
      if (typeof first === 'string') return { path, fault: first };
      await this.reserve(one, first).catch(async (error: unknown) => {
        // An earlier request that goes on has the path for the same run.
        if (!(await holdsPath(this.database, run, path))) throw error;
      });
    }
    const until = new Date(this.clock.now() + LEASE_MS);
    const work = { path, now: new Date(this.clock.now()), until };
    let held = await workAt(this.database, run, work);
    for (;;) {
      const se = held && (await this.nameOf(held.se_id));
      if (!held || se === undefined) return { path, se: '', away: BUSY };
      try {
        if (!tried.has(se)) {
          const fault = await this.elements.makeWay(se, path, held.removals > 0);
          if (fault === undefined) {
            const awaited = await this.awaitedAt(file, se);
            if (!awaited) {
              await leave(this.database, held.id, work);
              return { path, needs: 'md5' };
            }
            const now = new Date(this.clock.now());
            const isIn = await letRunIn(this.database, held.id, work, now);
            return isIn ? awaited : { path, se, away: BUSY };
          }
          faults.push(fault);
          tried.add(se);
        }
        const seId = await this.next(one, tried, faults);
        if (typeof seId === 'string') return { path, fault: seId };
        held = await this.database.transaction((transaction) =>
          moveBytes(transaction, run, { ...work, seId }),
        );
      } catch (error) {
        if (held) await leave(this.database, held.id, work);
        throw error;
      }
    }
  }

  /** The number of the first element where nothing that the job has left is in the way; or why there is none. */
  private async next(
    { principal, run, file, left }: OwnOutput,
    tried: Set<string>,
    faults: string[],
  ): Promise<number | string> {
    for (;;) {
      const element = await this.elements.next(principal.vo, file, tried);
      if (typeof element === 'string')
        return faults.length === 0 ? element : `${element}: ${faults.join('; ')}`;
      const { name } = element;
      const seId = await this.idOf(name);
      const bytes = left.find(({ se_id: id }) => id === seId);
      const fault = bytes && (await this.clear(name, bytes, run));
      if (fault === undefined) return seId;
      faults.push(fault);
      tried.add(name);
    }
  }

  /** Why what an earlier try has left there is in the way. Throws ElementAwayError while that cannot be said. */
  private async clear(
    se: string,
    { id, path, attempt, removals }: RunBytes,
    run: BytesRun,
  ): Promise<string | undefined> {
    // Of the same attempt: the element was given up, of which a worker that was started anew knows nothing.
    if (attempt === run.attempt) return `Bytes of ${path} are being removed at ${se}`;
    const now = new Date(this.clock.now());
    const until = new Date(now.getTime() + LEASE_MS);
    if (!(await claimLeft(this.database, { id, now, until }))) throw new ElementAwayError(se, BUSY);
    try {
      const fault = removals === 0 ? undefined : await this.elements.makeWay(se, path, true);
      if (fault === undefined) await forgetOf(this.database, id);
      return fault;
    } catch (error) {
      if (error instanceof ElementAwayError) await leave(this.database, id, { until });
      throw error;
    }
  }

  private async idOf(se: string): Promise<number> {
    const id = (await this.names.ensure('se', [se])).get(se);
    if (id === undefined) throw new Error(`${se} has no number`);
    return id;
  }

  private async nameOf(seId: number): Promise<string> {
    await this.names.load([seId]);
    return this.names.nameOf(seId);
  }

  /** Holds paths of which the job has nothing yet, in one transaction. False where that cannot be: each says why when it is held alone. */
  private async holdAll(
    principal: Principal,
    run: BytesRun,
    files: readonly OutputFile[],
  ): Promise<boolean> {
    if (files.length < 2) return false;
    const lines: FileReserve[] = [];
    for (const file of files) {
      const element = await this.elements.next(principal.vo, file, new Set(file.failed));
      if (typeof element === 'string' || filePathFault(file.path) !== undefined) return false;
      lines.push(reservation(run, file, await this.idOf(element.name)));
    }
    try {
      await this.writer.applyTogether(await this.policy.writerOf(principal), lines);
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  private async reserve({ principal, run, file }: OwnOutput, seId: number): Promise<void> {
    const actor = await this.policy.writerOf(principal);
    await this.writer.applyTogether(actor, [reservation(run, file, seId)]);
  }

  /** Undefined: its MD5 would have to be signed. */
  private async awaitedAt(file: OutputFile, se: string): Promise<Awaited | undefined> {
    const { path, size, md5 } = file;
    const place = await this.elements.at(se, path);
    if (!place) throw new Problem('catalogue.no-address', `${se} has no address any more`);
    const awaited = { file, ...place, opens: path };
    if (place.element.kind !== 's3') return awaited;
    return md5 === undefined ? undefined : { ...awaited, content: { size, md5 } };
  }

  private async openAll(
    principal: Principal,
    awaited: readonly Awaited[],
  ): Promise<OpenedOutput[]> {
    const end = this.tokens.endOf(principal, KEY_SECONDS);
    const opened: OpenedOutput[] = [];
    for (const element of new Set(awaited.map((one) => one.element))) {
      const own = awaited.filter((one) => one.element === element);
      const { name: se } = element;
      try {
        const keys = await this.keys.of(principal, own, { right: 'create', end });
        for (const { file, url } of own) {
          const { path } = file;
          const key = keys.get(url);
          opened.push(key ? { path, se, url, ...key } : { path, fault: 'nothing lets it in' });
        }
      } catch (error) {
        if (!isAway(error)) throw error;
        opened.push(...own.map(({ file: { path } }) => ({ path, se, away: error.detail })));
      }
    }
    return opened;
  }

  /** Makes the directory of the owner where files are to be stored in it, and it is not there yet. Answers why it cannot be. */
  private async makeHome(
    { user, group, vo, ...rest }: Principal,
    files: readonly OutputFile[],
  ): Promise<string | undefined> {
    if (vo === undefined) return undefined;
    const home = `/${vo}/user/${[...user][0] ?? ''}/${user}`;
    if (!files.some(({ path }) => path.startsWith(`${home}/`))) return undefined;
    const there = (await readChain(this.database, home)).at(-1)?.path ?? '/';
    if (there === home) return undefined;
    const system = await this.policy.systemActor();
    const directory = { kind: 'directory', op: 'put', mustExist: false, mode: 0o755 } as const;
    const parent = parentPath(home);
    const { userId, groupId } = await this.policy.writerOf({ user, group, vo, ...rest });
    try {
      if (there !== parent) await this.writer.applyOne(system, { ...directory, path: parent });
      await this.writer.applyOne({ ...system, userId, groupId }, { ...directory, path: home });
      return undefined;
    } catch (error) {
      if (error instanceof Problem && error.status < 500) return error.detail;
      throw error;
    }
  }
}

/** The path of a file, for bytes that a run stores there. */
function reservation(
  { jid, attempt }: BytesRun,
  { path, size, adler32, sha256 }: OutputFile,
  seId: number,
): FileReserve {
  return {
    ...{ kind: 'file', op: 'reserve', path, seId, size, endsAt: 'infinity' },
    run: { jid, attempt, adler32, sha256 },
  };
}
