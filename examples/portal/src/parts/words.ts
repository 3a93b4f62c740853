/** Words of a text, or the list that there is already. */
export function listed(value: string | string[]): string[] {
  return Array.isArray(value) ? value : listOf(value);
}

/** A word as a shell would read it back. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Words between blanks and commas. */
export function listOf(words: string): string[] {
  return words.split(/[\s,]+/).filter((word) => word !== '');
}

/** Of a fault of `After[0].jid`: `After`. */
export function keyOf(field: string): string {
  return /^\w*/.exec(field)?.[0] ?? field;
}
