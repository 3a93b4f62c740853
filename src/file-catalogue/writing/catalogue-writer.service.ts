import { Inject, Injectable } from '@nestjs/common';
import { Problem, type BoundedQueue } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { Database, type Transaction } from '#src/database/index.js';
import { EventLog } from '#src/events/index.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import { findFields } from '../metadata/fields.repository.js';
import type { FieldType, MetadataField } from '../metadata/metadata-field.js';
import { parentPath } from '../path/catalogue-path.js';
import { writeChanges } from './batch-changes.repository.js';
import { ChangeLog } from '../events/change-log.js';
import { eventsOf } from './batch-events.js';
import { BatchRules } from './batch-rules.js';
import type { BatchState } from './batch-state.js';
import { BatchConflict, isStructural, lockAndRead } from './batch.repository.js';
import type {
  CatalogueLine,
  EntryLine,
  FieldLine,
  FilePut,
  LineOutcome,
} from './catalogue-line.js';
import { deleteField, fieldsSetOn, insertField } from './fields-write.repository.js';
import { NotOnlyNew, plainFilesFrom, registerNewFiles } from './new-files.js';

/** Lines that one transaction applies at most. */
const BATCH_LINES = 1_000;
const MAX_ATTEMPTS = 20;

/** The one writer of directories, files and metadata. */
@Injectable()
export class CatalogueWriter {
  /** Thousands of writers at once wait here, where it costs nothing, and not for connections, which readers need too. */
  private readonly writers: BoundedQueue;

  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly log: EventLog,
    @Inject(CONFIG) config: Config,
  ) {
    const permits = Math.max(1, Math.floor(config.databasePool / 2));
    const maxWaitMs = (): number => config.requestTimeout * 1000;
    this.writers = database.permits.queue(permits, { maxWaitMs });
  }

  /**
   * Applies the lines in order, each as a whole or not at all, and answers what became of each. Some thousand neighbouring
   * lines become durable together.
   */
  async apply(actor: Actor, lines: readonly CatalogueLine[]): Promise<LineOutcome[]> {
    const outcomes: LineOutcome[] = [];
    for await (const some of this.applying(actor, lines)) outcomes.push(...some);
    return outcomes;
  }

  /**
   * The same, told after each transaction: the outcomes of its lines. Begins no further one when the signal is aborted,
   * and throws its reason.
   */
  async *applying(
    actor: Actor,
    lines: readonly CatalogueLine[],
    signal?: AbortSignal,
  ): AsyncGenerator<readonly LineOutcome[]> {
    for (let at = 0; at < lines.length;) {
      signal?.throwIfAborted();
      const { outcomes, most } = await this.tryNewFiles(actor, lines, at);
      const some = outcomes ?? (await this.applyNext(actor, transactionAt(lines, at, most)));
      at += some.length;
      yield some;
    }
  }

  private async applyNext(
    actor: Actor,
    part: FieldLine | EntryLine[],
  ): Promise<readonly LineOutcome[]> {
    return Array.isArray(part)
      ? this.applyBatch(actor, part)
      : [await this.applyField(actor, part)];
  }

  /**
   * The lines that only register new files, many at once and by a shorter way; without outcomes, up to `most` lines are to be
   * applied by all rules before the next attempt.
   */
  private async tryNewFiles(
    actor: Actor,
    lines: readonly CatalogueLine[],
    start: number,
  ): Promise<{ outcomes?: LineOutcome[]; most: number }> {
    const files = plainFilesFrom(actor, lines, start);
    if (!files) return { most: BATCH_LINES };
    const { policy, log } = this;
    try {
      await this.asWriter(() =>
        this.database.transaction((transaction) =>
          registerNewFiles(transaction, files, { actor, policy, log }),
        ),
      );
      return { outcomes: files.map(() => 'created'), most: 0 };
    } catch (error) {
      if (!(error instanceof NotOnlyNew)) throw error;
      // Lines that make the missing directories go first, and what is in them may follow by the shorter way.
      const last = lastFirst(files, error.missing);
      return { most: Math.min(BATCH_LINES, last < 0 ? BATCH_LINES : last + 1) };
    }
  }

  /** Applies one line. Throws its Problem when it is refused. */
  async applyOne(actor: Actor, line: CatalogueLine): Promise<Exclude<LineOutcome, Problem>> {
    const [outcome] = await this.apply(actor, [line]);
    if (outcome === undefined) throw new Error('no outcome');
    if (outcome instanceof Problem) throw outcome;
    return outcome;
  }

  /** Applies all of the lines, and something else in their transaction, or none: throws the Problem of the first that is refused. */
  async applyTogether(
    actor: Actor,
    lines: readonly EntryLine[],
    after?: (transaction: Transaction) => Promise<void>,
  ): Promise<LineOutcome[]> {
    const keeping = await this.keepingElements(lines);
    return this.inBatch(async (transaction) => {
      const outcomes = await this.tryBatch(transaction, actor, { lines, keeping });
      const refused = outcomes.find((outcome) => outcome instanceof Problem);
      if (refused) throw refused;
      await after?.(transaction);
      return outcomes;
    });
  }

  /** The caller's own permit comes first: writers that wait for it keep nobody else from writing. */
  private asWriter<T>(work: () => Promise<T>): Promise<T> {
    return this.database.withinPermit(() => this.writers.run(work));
  }

  private async applyBatch(actor: Actor, lines: readonly EntryLine[]): Promise<LineOutcome[]> {
    const keeping = await this.keepingElements(lines);
    return this.inBatch((transaction) => this.tryBatch(transaction, actor, { lines, keeping }));
  }

  private async keepingElements(lines: readonly EntryLine[]): Promise<ReadonlySet<number>> {
    const deletes = lines.some(({ kind, op }) => kind === 'file' && op === 'delete');
    return deletes ? this.policy.keepingElements() : new Set();
  }

  /** Does it in a transaction, and anew where somebody else was quicker. */
  private inBatch<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.asWriter(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.database.transaction(work);
        } catch (error) {
          if (!(error instanceof BatchConflict)) throw error;
          if (attempt < MAX_ATTEMPTS) continue;
          throw Problem.unavailable('Too many changes of the same place at once', { cause: error });
        }
      }
    });
  }

  private async tryBatch(
    transaction: Transaction,
    actor: Actor,
    { lines, keeping: keepingBytes }: { lines: readonly EntryLine[]; keeping: ReadonlySet<number> },
  ): Promise<LineOutcome[]> {
    const names = metadataKeys(lines);
    const losing = losingValues(lines);
    const fields = await findFields(transaction, names);
    const set = lines.some(setsDirectoryValues) ? [...fields.values()] : [];
    const types = new Map<number, FieldType>();
    for (const field of [...set, ...(await fieldsSetOn(transaction, losing))]) {
      types.set(field.id, field.type);
    }
    const fieldIds = [...types.keys()];
    const plan = { lines, isStructural: await isStructural(transaction, lines), fieldIds };
    const state = await lockAndRead(transaction, plan);
    if (fieldIds.length > 0) await this.refuseChangedFields(transaction, names, fields);
    refuseUnlockedFields(state, losing, fieldIds);
    const rules = new BatchRules(state, { actor, policy: this.policy, fields, keepingBytes });
    const outcomes = lines.map((line) => rules.apply(line));
    await writeChanges(transaction, state, types);
    await eventsOf(state).write(transaction, this.log);
    return outcomes;
  }

  private async refuseChangedFields(
    transaction: Transaction,
    names: readonly string[],
    seen: ReadonlyMap<string, MetadataField>,
  ): Promise<void> {
    const now = await findFields(transaction, names);
    for (const name of names) {
      if (now.get(name)?.id !== seen.get(name)?.id) throw new BatchConflict();
    }
  }

  private async applyField(actor: Actor, line: FieldLine): Promise<LineOutcome> {
    if (actor.paths?.create) {
      return new Problem('auth.insufficient-scope', 'Fields belong to no path of the token');
    }
    if (!this.policy.mayDeclareFields(actor)) {
      return new Problem('catalogue.forbidden', 'Declaring fields needs FileCatalogManagement');
    }
    if (line.op === 'delete' && !this.policy.mayDeleteFields(actor)) {
      const detail = 'Deleting fields needs FileCatalogManagement for the whole catalogue';
      return new Problem('catalogue.forbidden', detail);
    }
    return this.asWriter(() =>
      this.database.transaction((transaction) => this.tryField(transaction, line)),
    );
  }

  private async tryField(transaction: Transaction, line: FieldLine): Promise<LineOutcome> {
    const known = async (): Promise<MetadataField | undefined> =>
      (await findFields(transaction, [line.name])).get(line.name);
    if (line.op === 'delete') {
      const field = await known();
      if (!field) return 'absent';
      await deleteField(transaction, field.id);
      await this.logField(transaction, 'removed');
      return 'deleted';
    }
    if (await insertField(transaction, line.name, line.type)) {
      await this.logField(transaction, 'created');
      return 'created';
    }
    const type = (await known())?.type;
    if (type === line.type) return 'unchanged';
    return new Problem('catalogue.field-conflict', `The field ${line.name} has type ${type}`);
  }

  /** A field is nobody's and everybody's: one event of the root, however many directories have lost their values. */
  private async logField(transaction: Transaction, change: 'created' | 'removed'): Promise<void> {
    const events = new ChangeLog();
    events.directory('metadata', change, { place: { path: '/', bits: '' } });
    await events.write(transaction, this.log);
  }
}

/** A field alone, or the lines up to the next one, `most` at most. */
function transactionAt(
  lines: readonly CatalogueLine[],
  start: number,
  most: number,
): FieldLine | EntryLine[] {
  const batch: EntryLine[] = [];
  for (let at = start; at < lines.length && batch.length < most; at += 1) {
    const line = lines[at] as CatalogueLine;
    if (line.kind === 'field') return batch.length === 0 ? line : batch;
    batch.push(line);
  }
  return batch;
}

/** Where the last of the directories is met for the first time; -1 without directories. */
function lastFirst(files: readonly FilePut[], directories: ReadonlySet<string>): number {
  const left = new Set(directories);
  return left.size === 0
    ? -1
    : files.findIndex(({ path }) => left.delete(parentPath(path)) && left.size === 0);
}

function setsDirectoryValues(line: EntryLine): boolean {
  return line.kind === 'directory' && line.op === 'put' && line.metadata !== undefined;
}

function metadataKeys(lines: readonly EntryLine[]): string[] {
  const keys = lines.flatMap((line) =>
    line.op === 'put' ? (line.metadata?.values.map(([key]) => key) ?? []) : [],
  );
  return [...new Set(keys)];
}

/** Directories that may lose values which the lines do not name. */
function losingValues(lines: readonly EntryLine[]): string[] {
  return lines
    .filter(
      (line) =>
        line.kind === 'directory' && (line.op === 'delete' || line.metadata?.mode === 'replace'),
    )
    .map((line) => line.path);
}

function refuseUnlockedFields(
  state: BatchState,
  paths: readonly string[],
  locked: readonly number[],
): void {
  for (const path of paths) {
    for (const fieldId of state.directory(path)?.values.keys() ?? []) {
      if (!locked.includes(fieldId)) throw new BatchConflict();
    }
  }
}
