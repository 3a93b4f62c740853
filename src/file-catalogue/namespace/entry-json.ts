import { parseJson, stringifyJson, type JsonObject } from '#src/kernel/index.js';
import type { CatalogueNames } from '../names/catalogue-names.service.js';
import type { SubDirectoryRow } from './directories.repository.js';
import type { FileRow } from './files.repository.js';

/** The one status that this catalogue knows; the reference hides entries with any other. */
const STATUS = 'AprioriGood';

/** Attributes of a file as the interface's clients know them. */
export function fileAttributes(file: FileRow, names: CatalogueNames): Record<string, unknown> {
  return {
    FileID: file.id,
    Size: file.size,
    GUID: file.guid ?? '',
    Checksum: file.checksum ?? '',
    ChecksumType: file.checksum_type ?? '',
    Type: 'File',
    UID: file.owner_id,
    Owner: names.nameOf(file.owner_id),
    GID: file.group_id,
    OwnerGroup: names.nameOf(file.group_id),
    CreationDate: file.created_at,
    ModificationDate: file.modified_at,
    Mode: file.mode,
    Status: STATUS,
  };
}

/** The same as JSON text, several times as fast: listings and lookups have thousands of them. */
export function fileAttributesText(file: FileRow, names: CatalogueNames): string {
  return (
    `{"FileID":${file.id},"Size":${file.size},"GUID":${quoted(file.guid)},"Checksum":${quoted(file.checksum)},` +
    `"ChecksumType":${quoted(file.checksum_type)},"Type":"File","UID":${file.owner_id},` +
    `"Owner":${quoted(names.nameOf(file.owner_id))},"GID":${file.group_id},` +
    `"OwnerGroup":${quoted(names.nameOf(file.group_id))},"CreationDate":${timeText(file.created_at)},` +
    `"ModificationDate":${timeText(file.modified_at)},"Mode":${file.mode},"Status":"${STATUS}"}`
  );
}

function quoted(text: string | null): string {
  return text === null ? '""' : JSON.stringify(text);
}

let lastTime = NaN;
let lastTimeText = '';

/** Neighbours in a listing were often registered together. */
function timeText(date: Date): string {
  const time = date.getTime();
  if (time !== lastTime) {
    lastTime = time;
    lastTimeText = `"${date.toISOString()}"`;
  }
  return lastTimeText;
}

/** Attributes of a directory. */
function directoryAttributes(
  directory: SubDirectoryRow,
  names: CatalogueNames,
): Record<string, unknown> {
  return {
    DirID: directory.id,
    UID: directory.owner_id,
    Owner: names.nameOf(directory.owner_id),
    GID: directory.group_id,
    OwnerGroup: names.nameOf(directory.group_id),
    Status: STATUS,
    Mode: directory.mode,
    CreationDate: directory.created_at,
    ModificationDate: directory.modified_at,
  };
}

/** Replicas of a file by storage element; the PFN is empty where it follows from the path. */
function fileReplicas(file: FileRow, names: CatalogueNames): Record<string, unknown> {
  return Object.fromEntries(
    replicaEntries(file).map(([id, pfn]) => [names.nameOf(id), { Status: STATUS, PFN: pfn }]),
  );
}

/** Numbers of storage elements and PFNs of a file. */
export function replicaEntries(file: Pick<FileRow, 'replicas'>): [number, string][] {
  if (file.replicas === null) return [];
  const replicas = parseJson(file.replicas) as Record<string, string | null>;
  return Object.entries(replicas).map(([id, pfn]) => [Number(id), pfn ?? '']);
}

/** The checksum of a file by its kind; none where it is not known. */
export function checksumOf({
  checksum,
  checksum_type: kind,
}: Pick<FileRow, 'checksum' | 'checksum_type'>): Record<string, string> {
  return checksum && kind ? { [kind.toLowerCase()]: checksum } : {};
}

/** User metadata of a file. */
export function fileMetadata(file: FileRow): JsonObject {
  return file.metadata === null ? {} : (parseJson(file.metadata) as JsonObject);
}

/** One entry of `SubDirs`: `"name":true`, or its attributes. */
export function subDirectoryText(
  directory: SubDirectoryRow,
  names: CatalogueNames,
  verbose: boolean,
): string {
  const value = verbose ? stringifyJson(directoryAttributes(directory, names)) : 'true';
  return `${JSON.stringify(directory.name)}:${value}`;
}

/** One entry of `Files`. */
export function fileText(file: FileRow, names: CatalogueNames, verbose: boolean): string {
  const replicas = verbose ? `,"Replicas":${stringifyJson(fileReplicas(file, names))}` : '';
  return `${JSON.stringify(file.name)}:{"MetaData":${fileAttributesText(file, names)}${replicas}}`;
}

/** Every number whose name the text of an entry shows. */
export function namesIn(entry: FileRow | SubDirectoryRow): number[] {
  const replicas = 'replicas' in entry ? replicaEntries(entry).map(([id]) => id) : [];
  return [entry.owner_id, entry.group_id, ...replicas];
}
