import type { AddressedElement } from '#src/registry/index.js';
import { bareChecksum } from '../writing/member-rules.js';
import type { StorageElements } from './storage-elements.js';

/**
 * Why what lies there is not these bytes, as the end of a sentence about the element; undefined when it is. What was written to S3 is what
 * was signed for it: there the size tells that it is complete. Throws what `stat` throws.
 */
export async function storedFault(
  elements: StorageElements,
  { element, path }: { element: AddressedElement; path: string },
  { size, adler32: wanted }: { size: number | bigint; adler32: string },
): Promise<string | undefined> {
  const stored = await elements.stat(element, path);
  if (!stored) return `has nothing of ${path}`;
  if (BigInt(stored.size) !== BigInt(size))
    return `has ${stored.size} bytes, not ${size}, of ${path}`;
  if (element.kind === 's3') return undefined;
  const { adler32 } = stored;
  if (adler32 === undefined) return `tells no Adler32 of ${path}`;
  const isSame = bareChecksum(adler32, 'Adler32') === bareChecksum(wanted, 'Adler32');
  return isSame ? undefined : `has bytes with the Adler32 ${adler32}, not ${wanted}, of ${path}`;
}
