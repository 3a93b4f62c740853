import { Problem } from '#src/kernel/index.js';
import type { MetadataField } from '../metadata/metadata-field.js';
import { namesBelow, newNameFault } from '../path/catalogue-path.js';
import type { FileData } from './batch-state.js';
import type { HeldBytes } from './catalogue-bytes.repository.js';
import type { FilePut, FileReserve } from './catalogue-line.js';
import { bareChecksum, bareGuid, bareType } from './member-rules.js';

/** 409 for a file that is registered with another content. */
export function refuseOtherContent(line: FilePut, existing: FileData): void {
  const differs: string[] = [];
  if (line.size !== undefined && line.size !== existing.size) differs.push('size');
  const type = existing.checksum_type ?? line.checksumType ?? '';
  const isOther = (
    given: string | undefined,
    known: string | null,
    bare: (text: string) => string,
  ): boolean => given !== undefined && known !== null && bare(given) !== bare(known);
  if (isOther(line.checksum, existing.checksum, (text) => bareChecksum(text, type)))
    differs.push('checksum');
  if (isOther(line.checksumType, existing.checksum_type, bareType)) differs.push('checksum type');
  if (isOther(line.guid, existing.guid, bareGuid)) differs.push('GUID');
  if (differs.length === 0) return;
  throw new Problem(
    'catalogue.exists',
    `${line.path} is registered with another ${differs.join(' and ')}`,
  );
}

/** True for a line that holds the path for what it is held for. */
export function isFor({ se_id: seId, size, md5 }: HeldBytes, line: FileReserve): boolean {
  const isSameSize =
    size === null ? line.size === undefined : BigInt(size) === BigInt(line.size ?? -1);
  return seId === line.seId && isSameSize && md5 === (line.md5 ?? null);
}

/** True for what a job has left at another storage element. */
export function isLeftBy(
  { path, jid, state, se_id: seId }: HeldBytes,
  line: Pick<FileReserve, 'path' | 'run'> & { seId?: number },
): boolean {
  const isOwn = line.run !== undefined && jid !== null && BigInt(jid) === BigInt(line.run.jid);
  return isOwn && state === 'removing' && path === line.path && seId !== line.seId;
}

/** Names that are there already may have what new ones may not. */
export function refuseNewNames(path: string, there: string): void {
  const fault = namesBelow(there, path).map(newNameFault).find(Boolean);
  if (fault !== undefined) throw Problem.invalidField('path', fault);
}

/** 409 for a path that is something else. */
export function pathTaken(path: string, what: string): Problem {
  return new Problem('catalogue.exists', `${path} is ${what}`);
}

/** 409 for a path whose bytes are being removed. */
export function beingRemoved(path: string): Problem {
  return new Problem('catalogue.being-removed', `The bytes of ${path} are being removed`);
}

/** 409 for a path where a directory was of whose files bytes are left. */
export function bytesBelow(path: string): Problem {
  const text = `Bytes of files that were in ${path} are being removed`;
  return new Problem('catalogue.being-removed', text);
}

/** 409 for a field that cannot be set there. */
export function metadataConflict(field: MetadataField, path: string, problem: string): Problem {
  return new Problem(
    'catalogue.metadata-conflict',
    `The field ${field.name} cannot be set on ${path}: it ${problem}`,
    { violations: [{ field: field.name, problem }] },
  );
}
