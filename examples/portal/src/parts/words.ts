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

const MOST_VALUES = 100_000;

/** Words as `listOf` has them, where `1:12` is 1 to 12, `0:10:5` is 0, 5 and 10, and `01:12` keeps its zeros; or what is wrong. */
export function rangesOf(words: string): string[] | string {
  const values: string[] = [];
  for (const word of listOf(words)) {
    const [, from, to, by = '1'] = /^(-?\d{1,15}):(-?\d{1,15})(?::(-?\d{1,15}))?$/.exec(word) ?? [];
    if (from === undefined || to === undefined) {
      values.push(word);
      continue;
    }
    const number = Math.floor((Number(to) - Number(from)) / Number(by)) + 1;
    if (!(number >= 1)) return `${word} has no value`;
    if (values.length + number > MOST_VALUES) return `are more than ${MOST_VALUES}`;
    const width = /^0\d/.test(from) ? Math.max(from.length, to.length) : 0;
    for (let index = 0; index < number; index += 1) {
      values.push(String(Number(from) + index * Number(by)).padStart(width, '0'));
    }
  }
  return values;
}

/** Of a fault of `After[0].jid`: `After`. */
export function keyOf(field: string): string {
  return /^\w*/.exec(field)?.[0] ?? field;
}
