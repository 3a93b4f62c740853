const MAX_CHARACTERS = 2048;

/** A path in a storage scope: whole names from the root downwards. */
export interface ScopePath {
  readonly names: readonly string[];
  /** It is a directory's, and no file of this name is meant (WLCG profile 1.3, 2.2.1: a trailing slash). */
  readonly isDirectory: boolean;
}

/**
 * The path of a scope: absolute, each name escaped as in a URL. Undefined for what is no path, or not in normal form
 * (empty names, `.` and `..`), and for names that no directory can have: what a path means must not depend on who reads it.
 */
export function readScopePath(text: string): ScopePath | undefined {
  if (!text.startsWith('/') || text.length > MAX_CHARACTERS) return undefined;
  const isDirectory = text.endsWith('/');
  const inner = text.slice(1, isDirectory ? -1 : undefined);
  if (inner === '') return text === '/' ? { names: [], isDirectory } : undefined;
  const names = inner.split('/').map(unescaped);
  if (!names.every((name) => name !== undefined && isName(name))) return undefined;
  return { names: names as string[], isDirectory };
}

/** The path as the catalogue writes it. */
export function plainPath({ names }: ScopePath): string {
  return `/${names.join('/')}`;
}

/** A path of the catalogue as one of a scope. */
export function scopePathOf(path: string, kind: 'directory' | 'file'): ScopePath {
  return {
    names: path.split('/').filter((name) => name !== ''),
    isDirectory: kind === 'directory',
  };
}

/** The path in normal form (RFC 3986 §6): one text for one path. */
export function scopePathText({ names, isDirectory }: ScopePath): string {
  const text = `/${names.map(escaped).join('/')}`;
  return isDirectory && names.length > 0 ? `${text}/` : text;
}

/** Is the inner path the outer one itself or below it? By whole names: `/foo` is not above `/foobar`. */
export function coversPath(outer: ScopePath, inner: ScopePath): boolean {
  const { length } = outer.names;
  if (length > inner.names.length) return false;
  if (outer.names.some((name, place) => name !== inner.names[place])) return false;
  return length < inner.names.length || !outer.isDirectory || inner.isDirectory;
}

function unescaped(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

function isName(name: string): boolean {
  // eslint-disable-next-line no-control-regex -- they are what is refused
  return name !== '' && name !== '.' && name !== '..' && !/[/\u0000-\u001f\u007f]/.test(name);
}

/** `:@&=+$,;` may stand in a name as they are (RFC 3986 §3.3). */
function escaped(name: string): string {
  return encodeURIComponent(name).replace(/%(?:3A|40|26|3D|2B|24|2C|3B)/g, decodeURIComponent);
}
