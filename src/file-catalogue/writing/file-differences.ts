import { stringifyJson } from '#src/kernel/index.js';
import type { FileData } from './batch-state.js';

/** True when two states of a file differ in nothing but their metadata, if at all. */
export function isSameContent(a: FileData, b: FileData): boolean {
  return contentText(a) === contentText(b);
}

/** True when two states of a file have the same metadata. */
export function isSameMetadata(a: FileData, b: FileData): boolean {
  return a.metadata === b.metadata || metadataText(a) === metadataText(b);
}

function contentText(file: FileData): string {
  return JSON.stringify([
    [file.owner_id, file.group_id, file.mode, file.checksum, file.checksum_type, file.guid],
    String(file.size),
    [...file.replicas].sort(([x], [y]) => x - y),
  ]);
}

function metadataText({ metadata }: FileData): string {
  const pairs = Object.entries(metadata).map(([key, value]) => [key, stringifyJson(value)]);
  return JSON.stringify(pairs.sort(([x = ''], [y = '']) => (x < y ? -1 : 1)));
}
