const MAX_NAME_BYTES = 255;
const CONTROL = /\p{Cc}/u;

/** False for half of a surrogate pair, which no UTF-8 text can hold. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** What is wrong with a text as the plain name of a file; undefined when nothing is. */
export function fileNameFault(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name === '.' || name === '..') return 'is not a file name';
  if (name.includes('/') || name.includes('\\')) return 'must be a plain file name without a path';
  if (CONTROL.test(name)) return 'contains control characters';
  if (!isWellFormed(name)) return 'is not valid Unicode';
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `is longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

/** What is wrong with a path or pattern below the job's directory; undefined when nothing is. */
export function relativePathFault(path: string): string | undefined {
  if (path === '') return 'is empty';
  if (path.startsWith('/')) return 'must be below the directory of the job';
  const parts = path.replace(/\/$/, '').split('/');
  if (parts.some((part) => part === '..')) return 'must be below the directory of the job';
  const faults = parts.filter((part) => part !== '.').map((part) => fileNameFault(part));
  return faults.find((fault) => fault !== undefined);
}
