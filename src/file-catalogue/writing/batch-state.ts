import type { JsonObject } from '#src/kernel/index.js';
import type { StoredValue } from '../metadata/metadata-field.js';
import { parentPath } from '../path/catalogue-path.js';

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

  private countChild(path: string, change: number): void {
    const parent = this.directories.get(parentPath(path));
    if (parent) parent.changedChildren += change;
  }
}
