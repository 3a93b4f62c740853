import type { JsonValue, Problem } from '#src/kernel/index.js';
import type { FieldType } from '../metadata/metadata-field.js';

/** Changes of metadata: `merge` keeps other keys, `replace` does not; null removes a key. */
export interface MetadataChange {
  readonly mode: 'merge' | 'replace';
  readonly values: readonly (readonly [key: string, value: JsonValue])[];
}

/** Owner, group and mode, as far as they are given; names as numbers of the catalogue. */
export interface Ownership {
  readonly ownerId?: number | undefined;
  readonly groupId?: number | undefined;
  readonly mode?: number | undefined;
}

/** Declares a field, or deletes it with its values. */
export type FieldLine =
  | { kind: 'field'; op: 'put'; name: string; type: FieldType }
  | { kind: 'field'; op: 'delete'; name: string };

/** Makes or changes a directory; missing ones above are made too, unless it must exist. */
export interface DirectoryPut extends Ownership {
  kind: 'directory';
  op: 'put';
  path: string;
  mustExist: boolean;
  metadata?: MetadataChange | undefined;
}

/** Registers or changes a file; missing directories are made. Without `size` the file must exist. */
export interface FilePut extends Ownership {
  kind: 'file';
  op: 'put';
  path: string;
  size?: number | bigint | undefined;
  checksum?: string | undefined;
  checksumType?: string | undefined;
  guid?: string | undefined;
  /** Number of the storage element → PFN, null where it follows from the path. Other replicas stay. */
  replicas?: ReadonlyMap<number, string | null> | undefined;
  metadata?: MetadataChange | undefined;
  /** The file must exist. */
  mustExist?: true | undefined;
  /** The bytes whose path is held for this file, and what they hash to; their element has a replica. */
  arrived?: { id: number | bigint; sha256: string | null } | undefined;
}

/** Holds the path of a file that does not exist for bytes that arrive at a storage element; missing directories are made. */
export interface FileReserve {
  kind: 'file';
  op: 'reserve';
  path: string;
  seId: number;
  size?: number | bigint | undefined;
  md5?: string | undefined;
  /** When they are removed unless the file is registered; of those of a run, when nobody waits for it any more. */
  endsAt: Date | 'infinity';
  /** The run whose they are, and what they are to be. */
  run?: { jid: number | bigint; attempt: number; adler32: string; sha256: string } | undefined;
}

/** Removes a file, or a directory that is empty. */
export interface EntryDelete {
  kind: 'directory' | 'file';
  op: 'delete';
  path: string;
}

/** A change of directories and files. */
export type EntryLine = DirectoryPut | FilePut | FileReserve | EntryDelete;

/** One change of the catalogue. */
export type CatalogueLine = FieldLine | EntryLine;

/** What became of a line: applied as a whole, or refused as a whole. */
export type LineOutcome =
  | 'created'
  | 'updated'
  | 'unchanged'
  | 'deleted'
  /** It is gone, and the bytes that came through this service are being removed. */
  | 'removing'
  /** Nothing was there to delete. */
  | 'absent'
  | Problem;
