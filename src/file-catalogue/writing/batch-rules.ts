import { Problem, type JsonObject, type JsonValue, type Violation } from '#src/kernel/index.js';
import { requirePath } from '#src/auth/index.js';
import { isSameContent, isSameMetadata } from './file-differences.js';
import { isBare, refuseOutside } from './token-reach.js';
import type { Actor, CataloguePolicy } from '../access/catalogue.policy.js';
import {
  fieldNameFault,
  presentValue,
  readJsonValue,
  type MetadataField,
  type StoredValue,
} from '../metadata/metadata-field.js';
import { directoryNotFound, fileNotFound } from '../access/directory-access.js';
import { parentPath, pathChain, topOf } from '../path/catalogue-path.js';
import {
  beingRemoved,
  bytesBelow,
  isFor,
  isLeftBy,
  metadataConflict,
  pathTaken,
  refuseNewNames,
  refuseOtherContent,
} from './line-refusals.js';
import {
  NO_ID,
  type Attributes,
  type BatchState,
  type DirectoryState,
  type FileData,
} from './batch-state.js';
import type { HeldBytes } from './catalogue-bytes.repository.js';
import type {
  DirectoryPut,
  EntryDelete,
  EntryLine,
  FilePut,
  FileReserve,
  LineOutcome,
  MetadataChange,
  Ownership,
} from './catalogue-line.js';

/** Mode of what is made without one: 0775. */
export const DEFAULT_MODE = 0o775;
/** Bytes of a free metadata value of a file. */
const MAX_FREE_VALUE_BYTES = 4096;
const MAX_METADATA_KEYS = 256;

type Owned = Ownership & Pick<FileReserve, 'path' | 'run'> & { seId?: number };

/** The deepest directory on a way that the caller sees, and the path of what may not be seen below it. */
interface Seen {
  nearest: DirectoryState;
  hidden?: string | undefined;
}

/** The same of a file. */
interface FilePlace {
  directory: Seen;
  nearest: DirectoryState;
  hidden: string | undefined;
  existing: FileData | undefined;
}

/** What the rules need beside the state. */
export interface BatchContext {
  actor: Actor;
  policy: CataloguePolicy;
  fields: ReadonlyMap<string, MetadataField>;
  /** Numbers of the storage elements that keep the bytes of files that are deleted. */
  keepingBytes: ReadonlySet<number>;
}

/**
 * The rules of writing, on the state of a batch in memory: each line is checked as a whole before it changes
 * anything, and sees what the lines before it did. The database sees only the difference at the end.
 */
export class BatchRules {
  constructor(
    private readonly state: BatchState,
    private readonly context: BatchContext,
  ) {}

  /** Applies a line, or answers the problem for which it changes nothing. */
  apply(line: EntryLine): LineOutcome {
    try {
      refuseOutside(this.context.actor, line);
      if (line.op === 'delete') return this.delete(line);
      if (line.op === 'reserve') return this.reserve(line);
      return line.kind === 'directory' ? this.putDirectory(line) : this.putFile(line);
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  private putDirectory(line: DirectoryPut): LineOutcome {
    const place = this.seen(line.path);
    const { nearest, hidden } = place;
    const existing = !hidden && nearest.path === line.path ? nearest : undefined;
    if (!existing && line.mustExist) throw directoryNotFound(line.path);
    const values = this.readDirectoryValues(line.metadata);
    if (!existing) {
      this.refuseCreation(line.path, place, line);
      refuseNewNames(line.path, nearest.path);
      this.refuseValueConflicts(line.path, nearest, values);
      if (hidden !== undefined) throw pathTaken(hidden, 'taken');
      this.refuseHeld(line, nearest);
      const made = this.makeDirectories(line.path, nearest, line);
      for (const [field, value] of values) made.setValue(field.id, value);
      return 'created';
    }
    if (!isBare(line)) requirePath(this.context.actor, 'change', line);
    const attributes = this.changedAttributes(existing.attributes, line);
    const removed = line.metadata?.mode === 'replace' ? withoutKeys(existing, values) : [];
    if (line.metadata) this.refuseUnwritable(existing, line.path);
    this.refuseValueConflicts(line.path, existing, values);
    const before = snapshotOf(existing);
    existing.attributes = attributes;
    for (const fieldId of removed) existing.setValue(fieldId, undefined);
    for (const [field, value] of values) existing.setValue(field.id, value);
    return snapshotOf(existing) === before ? 'unchanged' : 'updated';
  }

  private putFile(line: FilePut): LineOutcome {
    const place = this.placeOf(line.path);
    if (!place.existing && (line.size === undefined || line.mustExist))
      throw fileNotFound(line.path);
    this.refuseDirectory(line.path, place);
    if (place.existing) return this.changeFile(line, place.existing, place.nearest);
    this.refuseNewFile(line, place);
    const attributes = this.newAttributes(line);
    const metadata = this.readFileMetadata(line.metadata, {});
    this.makeWay(line, place, line.arrived?.id);
    if (line.arrived) this.state.arrived.set(line.path, line.arrived);
    this.state.setFile(line.path, {
      ...attributes,
      size: line.size ?? 0,
      checksum: line.checksum ?? null,
      checksum_type: line.checksumType ?? null,
      guid: line.guid ?? null,
      metadata,
      replicas: line.replicas ?? new Map(),
    });
    return 'created';
  }

  /** All that a new file would be refused for is refused now. */
  private reserve(line: FileReserve): LineOutcome {
    const place = this.placeOf(line.path);
    this.refuseDirectory(line.path, place);
    this.refuseNewFile(line, place);
    if (place.existing) throw pathTaken(line.path, 'a file');
    const { userId: ownerId } = this.context.actor;
    const own = place.hidden === undefined ? this.ownBytes(line.path) : undefined;
    if (own && isFor(own, line)) {
      this.state.prolonged.push({ id: own.id, endsAt: line.endsAt });
      this.state.bytes.set(line.path, [{ ...own, id: NO_ID }]);
      return own.removals > 0 ? 'unchanged' : 'created';
    }
    this.makeWay(line, place);
    this.state.reserve({ ...line, ownerId });
    return 'created';
  }

  /** The bytes for which the caller holds the path. */
  private ownBytes(path: string): HeldBytes | undefined {
    return this.state.bytes
      .get(path)
      ?.find(
        ({ id, state, owner_id: ownerId, jid }) =>
          id !== NO_ID &&
          state === 'arriving' &&
          jid === null &&
          ownerId === this.context.actor.userId,
      );
  }

  /** What the caller sees of the place of a file. */
  private placeOf(path: string): FilePlace {
    const directory = this.seen(parentPath(path));
    const hidden = directory.hidden ?? this.seen(path).hidden;
    return {
      directory,
      nearest: directory.nearest,
      hidden,
      existing: hidden ? undefined : this.state.file(path),
    };
  }

  private refuseDirectory(path: string, { hidden }: FilePlace): void {
    if (!hidden && this.state.directory(path)) throw pathTaken(path, 'a directory');
  }

  private refuseNewFile(line: Owned, { directory, nearest }: FilePlace): void {
    const parent = parentPath(line.path);
    if (nearest.path === parent) this.refuseUnwritable(nearest, parent);
    else this.refuseCreation(parent, directory, line);
    refuseNewNames(line.path, nearest.path);
  }

  /** Makes the directories of a new file. */
  private makeWay(line: Owned, { nearest, hidden }: FilePlace, arrived?: number | bigint): void {
    if (hidden !== undefined) throw pathTaken(hidden, 'taken');
    this.refuseHeld(line, nearest, arrived);
    if (this.state.aboveBytes.has(line.path)) throw bytesBelow(line.path);
    const parent = parentPath(line.path);
    if (nearest.path !== parent)
      this.makeDirectories(parent, nearest, { ...line, mode: undefined });
  }

  /** Nothing is made where bytes are that belong to no file, but the file whose they are. */
  private refuseHeld(line: Owned, nearest: DirectoryState, arrived?: number | bigint): void {
    const { path } = line;
    if (arrived !== undefined) {
      const own = this.state.bytes.get(path)?.find(({ id }) => id === arrived);
      if (own?.state === 'arriving') return;
      throw new Problem('storage.differs', `The time to upload ${path} is over`);
    }
    for (const above of pathChain(path)) {
      if (above.length <= nearest.path.length) continue;
      const held = (this.state.bytes.get(above) ?? []).filter((bytes) => !isLeftBy(bytes, line));
      if (held.some(({ state }) => state === 'arriving')) throw pathTaken(above, 'being uploaded');
      if (held.length > 0) throw beingRemoved(above);
    }
  }

  private changeFile(line: FilePut, existing: FileData, directory: DirectoryState): LineOutcome {
    this.refuseUnwritable(directory, directory.path);
    refuseOtherContent(line, existing);
    const held = this.state.bytes.get(line.path) ?? [];
    if (held.some((bytes) => line.replicas?.has(bytes.se_id))) throw beingRemoved(line.path);
    const attributes = this.changedAttributes(existing, line);
    const changed: FileData = {
      ...existing,
      ...attributes,
      checksum: existing.checksum ?? line.checksum ?? null,
      checksum_type: existing.checksum_type ?? line.checksumType ?? null,
      guid: existing.guid ?? line.guid ?? null,
      metadata: this.readFileMetadata(line.metadata, existing.metadata),
      replicas: new Map([...existing.replicas, ...(line.replicas ?? [])]),
    };
    if (isSameContent(existing, changed) && isSameMetadata(existing, changed)) return 'unchanged';
    requirePath(this.context.actor, 'change', line);
    this.state.setFile(line.path, changed);
    return 'updated';
  }

  private delete(line: EntryDelete): LineOutcome {
    const { path } = line;
    const place = line.kind === 'file' ? parentPath(path) : path;
    const { nearest } = this.seen(place);
    if (this.seen(path).hidden !== undefined) return 'absent';
    if (line.kind === 'file') {
      return this.deleteFile(path, nearest);
    }
    if (nearest.path !== path) return 'absent';
    if (!nearest.parent)
      throw new Problem('catalogue.forbidden', 'The root directory cannot be deleted');
    this.refuseUnwritable(nearest.parent, path);
    if (!nearest.isEmpty) {
      throw new Problem('catalogue.not-empty', `The directory ${path} is not empty`);
    }
    this.state.remove(nearest);
    return 'deleted';
  }

  private deleteFile(path: string, nearest: DirectoryState): LineOutcome {
    const file = this.state.file(path);
    const held = file ? undefined : this.ownBytes(path);
    if (!file && !held) return 'absent';
    this.refuseUnwritable(nearest, parentPath(path));
    if (held) {
      this.state.ended.push(held.id);
      this.state.bytes.set(path, [{ ...held, state: 'removing' }]);
      return 'removing';
    }
    const { lent, owner_id: ownerId } = file as FileData;
    const losing = lent?.ses.filter((se) => !this.context.keepingBytes.has(se)) ?? [];
    this.state.setFile(path, undefined);
    for (const seId of losing) {
      this.state.drop({ path, ownerId, seId, dueAt: lent?.until as Date });
    }
    return losing.length > 0 ? 'removing' : 'deleted';
  }

  private makeDirectories(path: string, nearest: DirectoryState, line: Owned): DirectoryState {
    const attributes = this.newAttributes(line);
    let made = nearest;
    for (const missing of pathChain(path).filter((above) => above.length > nearest.path.length)) {
      const mode = missing === path ? attributes.mode : DEFAULT_MODE;
      made = this.state.make(missing, { ...attributes, mode });
    }
    return made;
  }

  private refuseCreation(path: string, { nearest, hidden }: Seen, line: Owned): void {
    const taken = pathChain(path).find((above) => this.state.file(above) !== undefined);
    if (taken !== undefined && !hidden) throw pathTaken(taken, 'a file');
    this.refuseUnwritable(nearest, path);
    this.newAttributes(line);
  }

  /**
   * The way to a path as the caller sees it. What is hidden is taken for missing: every check and every answer is the
   * same, up to the moment when something would be made in its place.
   */
  private seen(path: string): Seen {
    const { actor, policy } = this.context;
    const nearest = this.state.nearest(path);
    const reach = policy.reach(actor, path);
    if (reach === 'everything') return { nearest };
    const way = [...nearest.upwards()].reverse();
    const closed = way.findIndex(({ attributes }) => !policy.mayRead(actor, attributes));
    // Of another virtual organisation nothing but the root is looked at, whether its directory is there or not.
    const end = reach === 'nothing' && closed !== 0 ? 1 : closed;
    if (end < 0) return { nearest };
    const last = way[end - 1];
    if (!last) throw new Problem('catalogue.forbidden', 'You may not read this directory');
    return { nearest: last, hidden: reach === 'nothing' ? topOf(path) : way[end]?.path };
  }

  /** `path` is what is written: a directory where the caller manages may be made and removed as well. */
  private refuseUnwritable(directory: DirectoryState, path: string): void {
    const { actor, policy } = this.context;
    if (policy.manages(actor, path)) return;
    if (!policy.mayWrite(actor, directory.attributes)) {
      throw new Problem(
        'catalogue.forbidden',
        `You may not write in the directory ${directory.path}`,
      );
    }
  }

  private newAttributes(line: Owned): Attributes {
    const { actor } = this.context;
    const made = {
      owner_id: actor.userId,
      group_id: actor.groupId,
      mode: line.mode ?? DEFAULT_MODE,
    };
    return this.changeOwner(made, line);
  }

  private changedAttributes(current: Attributes, line: Owned): Attributes {
    const { actor, policy } = this.context;
    const mode = line.mode ?? current.mode;
    if (mode !== current.mode && !policy.mayChangeMode(actor, line.path, current)) {
      throw new Problem('catalogue.forbidden', 'Only the owner may change the mode');
    }
    const kept = { owner_id: current.owner_id, group_id: current.group_id };
    return this.changeOwner({ ...kept, mode }, line);
  }

  private changeOwner(attributes: Attributes, line: Owned): Attributes {
    const given = {
      ...attributes,
      owner_id: line.ownerId ?? attributes.owner_id,
      group_id: line.groupId ?? attributes.group_id,
    };
    const isOwnerChange =
      given.owner_id !== attributes.owner_id || given.group_id !== attributes.group_id;
    if (isOwnerChange && !this.context.policy.mayChangeOwner(this.context.actor, line.path)) {
      const detail = 'Only a catalogue manager may set owner and group';
      throw new Problem('catalogue.owner-forbidden', detail);
    }
    return given;
  }

  private readDirectoryValues(
    change: MetadataChange | undefined,
  ): Map<MetadataField, StoredValue | undefined> {
    const values = new Map<MetadataField, StoredValue | undefined>();
    const violations: Violation[] = [];
    for (const [key, json] of change?.values ?? []) {
      const field = this.context.fields.get(key);
      const read =
        field && (json === null ? { value: undefined } : readJsonValue(field.type, json));
      if (!read) violations.push({ field: key, problem: 'is no metadata field' });
      else if ('fault' in read) violations.push({ field: key, problem: read.fault });
      else values.set(field, read.value);
    }
    if (violations.length > 0) throw Problem.invalid(violations);
    return values;
  }

  /** A field may be set once on any way from the root downwards. */
  private refuseValueConflicts(
    path: string,
    nearest: DirectoryState,
    values: ReadonlyMap<MetadataField, StoredValue | undefined>,
  ): void {
    for (const [field, value] of values) {
      if (value === undefined) continue;
      for (const above of nearest.upwards()) {
        if (above.path !== path && above.values.has(field.id)) {
          throw metadataConflict(field, path, `is set on ${above.path} already`);
        }
      }
      if (nearest.path === path && nearest.hasBelow(field.id)) {
        throw metadataConflict(field, path, 'is set on a directory below already');
      }
    }
  }

  private readFileMetadata(change: MetadataChange | undefined, current: JsonObject): JsonObject {
    if (!change) return current;
    const merged = new Map(change.mode === 'merge' ? Object.entries(current) : []);
    const violations: Violation[] = [];
    for (const [key, json] of change.values) {
      const read = json === null ? { value: null } : this.readFileValue(key, json);
      if ('fault' in read) violations.push({ field: key, problem: read.fault });
      else if (read.value === null) merged.delete(key);
      else merged.set(key, read.value);
    }
    if (merged.size > MAX_METADATA_KEYS) {
      violations.push({ field: 'metadata', problem: `has more than ${MAX_METADATA_KEYS} keys` });
    }
    if (violations.length > 0) throw Problem.invalid(violations);
    return Object.fromEntries(merged);
  }

  private readFileValue(key: string, json: JsonValue): { value: JsonValue } | { fault: string } {
    const field = this.context.fields.get(key);
    if (field) {
      const read = readJsonValue(field.type, json);
      return 'fault' in read ? read : { value: presentValue(field.type, read.value) };
    }
    const fault = fieldNameFault(key);
    if (fault !== undefined) return { fault };
    if (typeof json === 'number' || typeof json === 'bigint') return { value: json };
    if (typeof json !== 'string') return { fault: 'is neither a string nor a number' };
    const isBad = json.includes('\0') || /\p{Surrogate}/u.test(json);
    if (isBad) return { fault: 'is not valid Unicode text' };
    return Buffer.byteLength(json) > MAX_FREE_VALUE_BYTES
      ? { fault: `is longer than ${MAX_FREE_VALUE_BYTES} bytes` }
      : { value: json };
  }
}

function withoutKeys(
  directory: DirectoryState,
  values: ReadonlyMap<MetadataField, StoredValue | undefined>,
): number[] {
  const kept = new Set([...values.keys()].map((field) => field.id));
  return [...directory.values.keys()].filter((fieldId) => !kept.has(fieldId));
}

function snapshotOf({ attributes, values }: DirectoryState): string {
  const pairs = [...values]
    .sort(([a], [b]) => a - b)
    .map(([id, value]) => `${id}:${typeof value}:${value}`);
  return JSON.stringify([attributes.owner_id, attributes.group_id, attributes.mode, pairs]);
}
