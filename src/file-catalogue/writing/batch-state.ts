import type { JsonObject } from '#src/kernel/index.js';
import type { StoredValue } from '../metadata/metadata-field.js';
import type { BytesState } from './catalogue-bytes.entity.js';
import type { HeldBytes, DroppedBytes, NewBytes } from './catalogue-bytes.repository.js';
import { parentPath, pathChain } from '../path/catalogue-path.js';

/** Of what has no number yet. */
export const NO_ID = -1;

/** Owner, group and mode. */
export interface Attributes {
  owner_id: number;
  group_id: number;
  mode: number;
}

/** A directory while a batch is worked out: as it was read, and as it will be. */
export class DirectoryState {
  isPresent = true;
  attributes: Attributes;
  /** Values set on this very directory, by field id. */
  values: Map<number, StoredValue>;
  /** Definitions of a field below this directory, by field id: in the database, and changes of the batch. */
  readonly storedBelow = new Map<number, number>();
  readonly changedBelow = new Map<number, number>();
  /** Directories and files directly inside: in the database (bounded count), and changes of the batch. */
  storedChildren = 0;
  changedChildren = 0;

  constructor(
    readonly path: string,
    readonly parent: DirectoryState | undefined,
    /** What the database holds; undefined for a directory that the batch makes. */
    readonly stored: StoredDirectory | undefined,
    made: Attributes | undefined,
  ) {
    this.attributes = { ...(stored?.attributes ?? (made as Attributes)) };
    this.values = new Map(stored?.values);
  }

  /** The directory and those above it, upwards. */
  *upwards(): Generator<DirectoryState> {
    yield this;
    if (this.parent) yield* this.parent.upwards();
  }

  get isEmpty(): boolean {
    return this.storedChildren + this.changedChildren === 0;
  }

  hasBelow(fieldId: number): boolean {
    return (this.storedBelow.get(fieldId) ?? 0) + (this.changedBelow.get(fieldId) ?? 0) > 0;
  }

  /** Sets or (undefined) removes a value, and tells the directories above. */
  setValue(fieldId: number, value: StoredValue | undefined): void {
    const had = this.values.has(fieldId);
    if (value === undefined) this.values.delete(fieldId);
    else this.values.set(fieldId, value);
    const change = Number(value !== undefined) - Number(had);
    if (change === 0 || !this.parent) return;
    for (const above of this.parent.upwards()) {
      above.changedBelow.set(fieldId, (above.changedBelow.get(fieldId) ?? 0) + change);
    }
  }
}

/** A directory as the database holds it. */
export interface StoredDirectory {
  id: number;
  label: Buffer;
  nextOrdinal: number;
  attributes: Attributes;
  values: ReadonlyMap<number, StoredValue>;
}

/** What is registered of a file. */
export interface FileData extends Attributes {
  size: number | bigint;
  checksum: string | null;
  checksum_type: string | null;
  guid: string | null;
  metadata: JsonObject;
  replicas: ReadonlyMap<number, string | null>;
  /** Numbers of the storage elements whose bytes came through this service, until when at least somebody may write them. */
  lent?: { ses: readonly number[]; until: Date } | undefined;
}

/** A file while a batch is worked out. */
export interface FileState {
  path: string;
  stored: FileData | undefined;
  current: FileData | undefined;
}

/** Everything that the lines of a batch touch. */
export class BatchState {
  readonly directories = new Map<string, DirectoryState>();
  readonly files = new Map<string, FileState>();
  /** Bytes that belong to no file, by path; of the batch's own reservations, that they arrive. */
  readonly bytes = new Map<string, readonly HeldBytes[]>();
  /** Paths below which there are such bytes, as far as files are made there. */
  readonly aboveBytes = new Set<string>();
  readonly reserved: NewBytes[] = [];
  /** Bytes whose path is held longer, no longer, and those of files that are deleted. */
  readonly prolonged: { id: number | bigint; endsAt: Date | 'infinity' }[] = [];
  readonly ended: (number | bigint)[] = [];
  readonly dropped: DroppedBytes[] = [];
  /** Of bytes that files get, by the path of the file. */
  readonly arrived = new Map<string, { id: number | bigint; sha256: string | null }>();

  /** The directory, if it exists now. */
  directory(path: string): DirectoryState | undefined {
    const state = this.directories.get(path);
    return state?.isPresent ? state : undefined;
  }

  /** The file, if it exists now. */
  file(path: string): FileData | undefined {
    return this.files.get(path)?.current;
  }

  /** The deepest directory that exists on the way to the path. */
  nearest(path: string): DirectoryState {
    for (let at = path; ; at = parentPath(at)) {
      const state = this.directory(at);
      if (state) return state;
      if (at === '/') throw new Error('the root directory is missing');
    }
  }

  /** Makes a directory whose parent exists. */
  make(path: string, attributes: Attributes): DirectoryState {
    const gone = this.directories.get(path);
    if (gone) {
      gone.isPresent = true;
      gone.attributes = { ...attributes };
      this.countChild(path, 1);
      return gone;
    }
    const state = new DirectoryState(path, this.directory(parentPath(path)), undefined, attributes);
    this.directories.set(path, state);
    this.countChild(path, 1);
    return state;
  }

  /** Removes an empty directory; its values go with it. */
  remove(directory: DirectoryState): void {
    for (const fieldId of [...directory.values.keys()]) directory.setValue(fieldId, undefined);
    directory.isPresent = false;
    this.countChild(directory.path, -1);
  }

  /** Registers, changes or (undefined) removes a file. */
  setFile(path: string, data: FileData | undefined): void {
    const known = this.files.get(path);
    const had = known?.current !== undefined;
    if (known) known.current = data;
    else this.files.set(path, { path, stored: undefined, current: data });
    this.countChild(path, Number(data !== undefined) - Number(had));
  }

  /** Holds a path for bytes. */
  reserve(bytes: NewBytes): void {
    this.reserved.push(bytes);
    this.hold(bytes, 'arriving');
  }

  /** The bytes of a file are to be removed. */
  drop(bytes: DroppedBytes): void {
    this.dropped.push(bytes);
    this.hold(bytes, 'removing');
  }

  private hold({ path, ownerId, seId }: NewBytes | DroppedBytes, state: BytesState): void {
    const none = { id: NO_ID, jid: null, size: null, md5: null, removals: 0 };
    const held = { ...none, path, owner_id: ownerId, se_id: seId, state };
    this.bytes.set(path, [...(this.bytes.get(path) ?? []), held]);
    for (const above of pathChain(parentPath(path))) this.aboveBytes.add(above);
  }

  private countChild(path: string, change: number): void {
    const parent = this.directories.get(parentPath(path));
    if (parent) parent.changedChildren += change;
  }
}
