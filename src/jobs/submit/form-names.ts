/** One parameter of a Content-Disposition: its name, the star of RFC 8187, and its value in quotation marks or bare. */
const PARAMETER = /;[ \t]*([A-Za-z0-9_-]+)(\*?)=(?:"((?:\\["\\]|[^"])*)"|([^;]*))/g;
const ESCAPED = /\\(["\\])/g;
/** What browsers write for the three characters that would break the quotation marks (HTML, multipart/form-data). */
const OF_BROWSERS = /%(?:22|0D|0A)/g;
const CHARACTERS: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n' };
const EXTENDED = /^utf-8'[^']*'(.*)$/is;

/** The names that a part of a form has; `fault` when its bytes are no UTF-8, or it is no part of a form. */
export type PartNames = { name: string; file: string | undefined } | { fault: string };

/**
 * Reads a Content-Disposition whose characters are bytes. Of a name in quotation marks exactly `%22`, `%0D` and `%0A` are
 * reversed, as browsers, fetch, curl and httpx write them, and backslashes before `"` and `\`, which older clients write;
 * every other `%` stays. `filename*` (RFC 8187, UTF-8) is exact and counts before `filename`.
 */
export function partNames(disposition: string): PartNames {
  const values = new Map<string, string>();
  for (const [, key = '', star = '', quoted, bare] of disposition.matchAll(PARAMETER)) {
    const text = read(star === '*', quoted, bare);
    if (text === undefined) return { fault: `The ${key} of a part of the form is not valid UTF-8` };
    const name = key.toLowerCase() + star;
    if (!values.has(name)) values.set(name, text);
  }
  const name = values.get('name*') ?? values.get('name');
  if (!/^form-data[ \t]*;/i.test(disposition) || name === undefined) {
    return { fault: 'A part of the form has no name' };
  }
  return { name, file: values.get('filename*') ?? values.get('filename') };
}

/** The same names as the parser of forms reads them whatever they hold. */
export function exactDisposition({
  name,
  file,
}: {
  name: string;
  file: string | undefined;
}): string {
  const extended = (text: string): string =>
    `utf-8''${encodeURIComponent(text).replaceAll("'", '%27')}`;
  const own = `form-data; name*=${extended(name)}`;
  return file === undefined ? own : `${own}; filename*=${extended(file)}`;
}

function read(isExtended: boolean, quoted = '', bare?: string): string | undefined {
  if (!isExtended) {
    const text = bare?.trim() ?? quoted.replace(ESCAPED, '$1');
    return utf8(text.replace(OF_BROWSERS, (escaped) => CHARACTERS[escaped] ?? escaped));
  }
  const [, encoded] = EXTENDED.exec((bare ?? quoted).trim()) ?? [];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

function utf8(bytes: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(bytes, 'latin1'),
    );
  } catch {
    return undefined;
  }
}
