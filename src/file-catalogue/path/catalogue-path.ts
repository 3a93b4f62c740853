import { decodeBase64UrlText, encodeBase64UrlText } from '#src/kernel/index.js';

/** Bytes of one name. */
const MAX_NAME_BYTES = 255;
/** Levels below the root. */
export const MAX_DEPTH = 100;
/** Bytes of a whole path: its base 64 and a token fit into the 16 KiB that Node gives to a request's head. */
export const MAX_PATH_BYTES = 4096;

const CONTROL = /\p{Cc}/u;
const SURROGATE = /\p{Surrogate}/u;

/**
 * What is wrong with a catalogue path, undefined when nothing is. A path is `/` or begins with `/`, has non-empty
 * names between its slashes and none at its end; names are any Unicode but NUL, `.` and `..`.
 */
export function pathFault(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must begin with /';
  if (path === '/') return undefined;
  if (path.includes('\0')) return 'contains a NUL character';
  if (SURROGATE.test(path)) return 'is not valid Unicode';
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `is longer than ${MAX_PATH_BYTES} bytes`;
  const names = path.slice(1).split('/');
  if (names.length > MAX_DEPTH) return `is deeper than ${MAX_DEPTH} levels`;
  for (const name of names) {
    if (name === '') return 'has an empty name (// or / at the end)';
    if (name === '.' || name === '..') return `has a ${name} segment`;
    if (name.length * 3 > MAX_NAME_BYTES && Buffer.byteLength(name) > MAX_NAME_BYTES) {
      return `has a name longer than ${MAX_NAME_BYTES} bytes`;
    }
  }
  return undefined;
}

/** What is wrong with a name that is to be made; names of before may have control characters, so that paths may. */
export function newNameFault(name: string): string | undefined {
  return CONTROL.test(name)
    ? 'has a name with control characters, such as an end of a line'
    : undefined;
}

/** What is wrong with the path of a file: `/` is none. */
export function filePathFault(path: string): string | undefined {
  return path === '/' ? 'names a directory' : pathFault(path);
}

/** A path decoded from a URL, or what is wrong with it. */
export type DecodedPath = { path: string } | { fault: string };

/**
 * Reads `<directory>`: URL-safe base 64 of a path (RFC 4648 §5, padding optional). One slash at the end is
 * ignored and an empty text means `/`, as clients of the older interface send them.
 */
export function decodeDirectoryPath(encoded: string): DecodedPath {
  const text = decodeBase64UrlText(encoded);
  if (text === undefined) return { fault: 'is not URL-safe base 64 of UTF-8 text' };
  const path = text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text || '/';
  const fault = text === '//' ? pathFault(text) : pathFault(path);
  return fault === undefined ? { path } : { fault: `decodes to a path that ${fault}` };
}

/** Reads `<file>`: like a directory's path, but `/` and a slash at the end name no file. */
export function decodeFilePath(encoded: string): DecodedPath {
  const text = decodeBase64UrlText(encoded);
  if (text === undefined) return { fault: 'is not URL-safe base 64 of UTF-8 text' };
  const fault = filePathFault(text);
  return fault === undefined ? { path: text } : { fault: `decodes to a path that ${fault}` };
}

/** The path as it stands in a URL. */
export function encodePath(path: string): string {
  return encodeBase64UrlText(path);
}

/** The directory that holds the path; `/` for the root itself. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** The last name of the path; empty for the root. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The entry of the root that the path is or lies in; `/` for the root itself. */
export function topOf(path: string): string {
  const slash = path.indexOf('/', 1);
  return slash < 0 ? path : path.slice(0, slash);
}

/** The path of an entry of a directory. */
export function joinPath(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** The path itself and all directories above it, the root first. */
export function pathChain(path: string): string[] {
  const chain = ['/'];
  if (path === '/') return chain;
  for (let slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
    chain.push(path.slice(0, slash));
  }
  chain.push(path);
  return chain;
}

/** Names between a directory and a path below it; empty when both are the same. */
export function namesBelow(directory: string, path: string): string[] {
  if (path === directory) return [];
  return path.slice(directory === '/' ? 1 : directory.length + 1).split('/');
}
