/** Words of a text, or the list that there is already. */
export function listed(value: string | string[]): string[] {
  return Array.isArray(value) ? value : listOf(value);
}

/** A word as a shell would read it back. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : inQuotes(word);
}

function inQuotes(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Names for a field that `namesOf` reads; patterns stay as they are. */
export function namesText(names: readonly string[]): string {
  return names.map((name) => (/^[^\s,'"\\]+$/.test(name) ? name : inQuotes(name))).join(' ');
}

/** Names between blanks and commas; one that has such itself stands in quotation marks. Undefined: one of these is missing. */
export function namesOf(text: string): string[] | undefined {
  const words = /(?:[^\s,'"\\]|\\.|'[^']*'|"[^"]*")+/gs;
  if (/[^\s,]/.test(text.replaceAll(words, ''))) return undefined;
  return (text.match(words) ?? []).map((word) =>
    word.replaceAll(/\\(.)|'([^']*)'|"([^"]*)"/gs, '$1$2$3'),
  );
}

/** Words between blanks and commas. */
export function listOf(words: string): string[] {
  return words.split(/[\s,]+/).filter((word) => word !== '');
}

/** Of a fault of `After[0].jid`: `After`. */
export function keyOf(field: string): string {
  return /^\w*/.exec(field)?.[0] ?? field;
}
