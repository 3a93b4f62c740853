import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { RegistryService } from '#src/registry/index.js';
import { CataloguePolicy } from '../access/catalogue.policy.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import type { FilePut } from '../writing/catalogue-line.js';
import { CatalogueWriter } from '../writing/catalogue-writer.service.js';
import { principalOf, type JobOwner } from './job-owner.js';
import { ElementAwayError, OutputElements } from './output-elements.service.js';
import { OutputPlaces, type OpenedOutput, type OutputFile } from './output-places.service.js';
import {
  bytesOfJob,
  noteArrived,
  runsWithBytes,
  type BytesRun,
  type RunBytes,
} from './run-bytes.repository.js';

/** Elements that are looked at for one request. */
const AT_ONCE = 8;

/** A run, and whose it is. */
export type OwnedRun = BytesRun & JobOwner & { setup: string };

/** That it has arrived; that its element is away; or why it is not what it is to be. */
export interface ArrivedOutput {
  path: string;
  away?: string;
  fault?: string;
}

/**
 * Files that jobs store: first their paths are held, then bytes are let in, then they are looked at, then all are registered in one
 * transaction with the end of the job. What is held and not registered is removed.
 */
@Injectable()
export class JobOutputs {
  constructor(
    private readonly database: Database,
    private readonly registry: RegistryService,
    private readonly policy: CataloguePolicy,
    private readonly names: CatalogueNames,
    private readonly elements: OutputElements,
    private readonly places: OutputPlaces,
    private readonly writer: CatalogueWriter,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Holds the paths of files of a run, and says where their bytes go. Asked again, what an earlier try has left is removed first; with
   * `failed` the next element is taken. Undefined when the owner has no right to anything any more.
   */
  async begin(run: OwnedRun, files: readonly OutputFile[]): Promise<OpenedOutput[] | undefined> {
    const registry = await this.registry.current();
    const principal = principalOf(run, registry, ['catalogue:read', 'catalogue:write']);
    if (!principal) return undefined;
    return this.places.open(principal, run, files);
  }

  /** Looks at the bytes of these paths. Answers which elements are away, and why some are not what they are to be. */
  async arrived(run: BytesRun, paths: readonly string[]): Promise<ArrivedOutput[]> {
    const wanted = new Set(paths);
    const all = await bytesOfJob(this.database, run.jid);
    const own = all.filter(
      ({ path, attempt, state }) =>
        wanted.has(path) && attempt === run.attempt && state === 'arriving',
    );
    await this.names.load(own.map(({ se_id: id }) => id));
    const good: RunBytes[] = [];
    const answers = new Map<string, ArrivedOutput>();
    await pLimit(AT_ONCE).map(own, async (bytes) => {
      const { path, se_id: seId } = bytes;
      try {
        const fault = bytes.has_arrived
          ? undefined
          : await this.elements.fault(this.names.nameOf(seId), path, bytes);
        if (fault === undefined && !bytes.has_arrived) good.push(bytes);
        answers.set(path, { path, ...(fault !== undefined && { fault }) });
      } catch (error) {
        if (!(error instanceof ElementAwayError)) throw error;
        answers.set(path, { path, away: error.message });
      }
    });
    const noted = new Set(await noteArrived(this.database, good, new Date(this.clock.now())));
    for (const { path } of good) {
      // Another request has let them in anew meanwhile, or is about to: what was seen may be gone.
      if (!noted.has(path)) answers.set(path, { path, away: 'another request works at it' });
    }
    return paths.map(
      (path) => answers.get(path) ?? { path, fault: 'its path is not held any more' },
    );
  }

  /**
   * Registers all files of a run, of which all have arrived, together with what else is to be in the transaction, which is told their paths. Throws what that throws,
   * Problem 409 when some have not, and whatever a file would be refused with.
   */
  async register(
    run: OwnedRun,
    demanded: readonly string[],
    within: (transaction: Transaction, paths: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const registry = await this.registry.current();
    const principal = principalOf(run, registry, ['catalogue:write']);
    if (!principal) throw new Problem('catalogue.forbidden', 'Its owner may not write any more');
    const all = await bytesOfJob(this.database, run.jid);
    const own = all.filter(({ attempt, state }) => attempt === run.attempt && state === 'arriving');
    const arrived = new Set(own.flatMap(({ path, has_arrived: is }) => (is ? [path] : [])));
    const wanted = [...demanded, ...own.map(({ path }) => path)];
    const missing = wanted.find((path) => !arrived.has(path));
    if (missing !== undefined) {
      throw new Problem('storage.differs', `${missing} has not arrived`);
    }
    const actor = await this.policy.writerOf(principal);
    const lines = own.map(({ id, path, se_id: seId, size, adler32, sha256 }): FilePut => ({
      ...{ kind: 'file', op: 'put', path, size, checksum: adler32, checksumType: 'Adler32' },
      ...{ replicas: new Map([[seId, null]]), arrived: { id, sha256 } },
    }));
    const paths = lines.map(({ path }) => path);
    await this.writer.applyTogether(actor, lines, (transaction) => within(transaction, paths));
  }

  /** Runs that have bytes which are not registered: some, after another one, in the order of their numbers. */
  async openRuns(after?: BytesRun): Promise<BytesRun[]> {
    return runsWithBytes(this.database, after);
  }

  /** Nobody waits for these runs. */
  abandon(runs: readonly BytesRun[]): Promise<void> {
    return this.places.abandon(runs);
  }
}
