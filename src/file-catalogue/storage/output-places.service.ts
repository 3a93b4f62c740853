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
import { ElementAwayError, OutputElements } from './output-elements.service.js';
import {
  bytesOfJob,
  claimLeft,
  forgetOf,
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
export const KEY_SECONDS = 900;
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
  md5: string;
  /** Storage elements, in the order in which they are tried; absent: all. */
  ses?: readonly string[] | undefined;
  /** Those to which it could not be written. */
  failed: readonly string[];
}

/** Where a file is to be written, and what lets it in; that it is there; that the element is away; or why it cannot be stored. */
export type OpenedOutput = { path: string } & (
  | (Key & { se: string; url: string })
  | { isThere: true }
  | { se: string; away: string }
  | { fault: string }
);

/** A file of a run, and whose it is. */
interface OwnOutput {
  principal: Principal;
  run: BytesRun;
  file: OutputFile;
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
    await this.makeHome(principal, files);
    const known = new Map<string, RunBytes[]>();
    for (const bytes of await bytesOfJob(this.database, run.jid)) {
      known.set(bytes.path, [...(known.get(bytes.path) ?? []), bytes]);
    }
    const opened = new Map<string, OpenedOutput>();
    const awaited: Awaited[] = [];
    await pLimit(AT_ONCE).map(files, async (file) => {
      const one = { principal, run, file };
      const found = await this.placeOf(one, known.get(file.path) ?? []);
      if ('element' in found) awaited.push(found);
      else opened.set(file.path, found);
    });
    for (const one of await this.openAll(principal, awaited)) opened.set(one.path, one);
    return files.flatMap(({ path }) => opened.get(path) ?? []);
  }

  /** Where the bytes of a file go, that they are there, or why they go nowhere. */
  private async placeOf(
    one: OwnOutput,
    known: readonly RunBytes[],
  ): Promise<Awaited | OpenedOutput> {
    const { run, file } = one;
    const { path } = file;
    const own = known.find(({ attempt, state }) => attempt === run.attempt && state === 'arriving');
    if (own?.has_arrived) {
      const isSame = BigInt(own.size) === BigInt(file.size) && own.sha256 === file.sha256;
      return isSame
        ? { path, isThere: true }
        : { path, fault: `another file of the job is ${path}` };
    }
    try {
      const fault = filePathFault(path);
      if (fault !== undefined) return { path, fault: `${path} ${fault}` };
      for (const bytes of known) {
        // An earlier attempt of the job, whose bytes nobody waits for.
        if (bytes.attempt !== run.attempt) await this.removeNow(bytes, file.failed);
      }
      return await this.hold(one, own !== undefined);
    } catch (error) {
      if (error instanceof ElementAwayError) return { path, se: error.se, away: error.message };
      if (error instanceof Problem && error.status < 500) return { path, fault: error.detail };
      throw error;
    }
  }

  /** Holds the path at the first element where nothing is in the way. */
  private async hold(
    { principal, run, file }: OwnOutput,
    isHeld: boolean,
  ): Promise<Awaited | OpenedOutput> {
    const { path } = file;
    const tried = new Set(file.failed);
    const faults: string[] = [];
    if (!isHeld) {
      const first = await this.elements.next(principal.vo, file, tried);
      if (typeof first === 'string') return { path, fault: first };
      await this.reserve(principal, run, file, await this.idOf(first.name)).catch(
        async (error: unknown) => {
          // An earlier request that goes on has the path for the same run.
          if (!(await holdsPath(this.database, run, path))) throw error;
        },
      );
    }
    const until = new Date(this.clock.now() + LEASE_MS);
    const work = { path, now: new Date(this.clock.now()), until };
    let held = await workAt(this.database, run, work);
    for (;;) {
      const se = held && (await this.nameOf(held.se_id));
      if (!held || se === undefined) return { path, se: '', away: BUSY };
      if (!tried.has(se)) {
        const { id, removals } = held;
        const fault = await this.elements
          .makeWay(se, path, removals > 0)
          .catch(async (error: unknown) => {
            await leave(this.database, id, work);
            throw error;
          });
        if (fault === undefined) {
          const isIn = await letRunIn(this.database, id, work, new Date(this.clock.now()));
          return isIn ? await this.awaitedAt(file, se) : { path, se, away: BUSY };
        }
        faults.push(fault);
        tried.add(se);
      }
      const next = await this.elements.next(principal.vo, file, tried);
      if (typeof next === 'string') return { path, fault: [...faults, next].join('; ') };
      const seId = await this.idOf(next.name);
      try {
        held = await this.database.transaction((transaction) =>
          moveBytes(transaction, run, { ...work, seId }),
        );
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'catalogue.being-removed') throw error;
        // An earlier try was there, of which a worker that was started anew knows nothing.
        faults.push(`${error.detail} at ${next.name}`);
        tried.add(next.name);
      }
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

  private async reserve(
    principal: Principal,
    { jid, attempt }: BytesRun,
    { path, size, adler32, sha256 }: OutputFile,
    seId: number,
  ): Promise<void> {
    const line: FileReserve = {
      ...{ kind: 'file', op: 'reserve', path, seId, size, endsAt: 'infinity' },
      run: { jid, attempt, adler32, sha256 },
    };
    await this.writer.applyTogether(await this.policy.writerOf(principal), [line]);
  }

  private async awaitedAt(file: OutputFile, se: string): Promise<Awaited> {
    const { path, size, md5 } = file;
    const place = await this.elements.at(se, path);
    if (!place) throw new Problem('catalogue.no-address', `${se} has no address any more`);
    const isSigned = place.element.kind === 's3';
    return { file, ...place, opens: path, ...(isSigned && { content: { size, md5 } }) };
  }

  private async openAll(
    principal: Principal,
    awaited: readonly Awaited[],
  ): Promise<OpenedOutput[]> {
    const end = this.tokens.endOf(principal, KEY_SECONDS);
    const keys = await this.keys.of(principal, awaited, { right: 'create', end });
    return awaited.map(({ file: { path }, element, url }) => {
      const key = keys.get(url);
      return key ? { path, se: element.name, url, ...key } : { path, fault: 'nothing lets it in' };
    });
  }

  /** Throws ElementAwayError, and Problem 409 once that element has been given up. */
  private async removeNow(
    { id, path, se_id: seId, removals }: RunBytes,
    failed: readonly string[],
  ): Promise<void> {
    const se = await this.nameOf(seId);
    const refuse = (fault: string): never => {
      const text = `${path} of an earlier attempt cannot be removed: ${fault}`;
      throw new Problem('catalogue.being-removed', text);
    };
    if (failed.includes(se)) refuse(`${se} is away`);
    const [now, until] = [0, LEASE_MS].map((later) => new Date(this.clock.now() + later)) as [
      Date,
      Date,
    ];
    if (!(await claimLeft(this.database, { id, now, until }))) {
      throw new ElementAwayError(se, BUSY);
    }
    const fault = removals === 0 ? undefined : await this.elements.makeWay(se, path, true);
    if (fault !== undefined) refuse(fault);
    await forgetOf(this.database, id);
  }

  /** Makes the directory of the owner where files are to be stored in it, and it is not there yet. */
  private async makeHome(
    { user, group, vo, ...rest }: Principal,
    files: readonly OutputFile[],
  ): Promise<void> {
    if (vo === undefined) return;
    const home = `/${vo}/user/${[...user][0] ?? ''}/${user}`;
    if (!files.some(({ path }) => path.startsWith(`${home}/`))) return;
    const there = (await readChain(this.database, home)).at(-1)?.path ?? '/';
    if (there === home) return;
    const system = await this.policy.systemActor();
    const directory = { kind: 'directory', op: 'put', mustExist: false, mode: 0o755 } as const;
    const parent = parentPath(home);
    if (there !== parent) await this.writer.applyOne(system, { ...directory, path: parent });
    const { userId, groupId } = await this.policy.writerOf({ user, group, vo, ...rest });
    await this.writer.applyOne({ ...system, userId, groupId }, { ...directory, path: home });
  }
}
