const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PLAIN = 0x20;
const ESCAPED = new Set('"\\/bfnrtu');
const HEX_DIGITS = /[0-9a-fA-F]{4}/y;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const KEYWORD = /true|false|null/y;
/** What a number may go on with: `01` and `1.` are none. */
const OF_NUMBER = /[0-9.eE+-]/;

/**
 * What makes the text no JSON (RFC 8259), and the place of it counted from 0; undefined when nothing does. The engine's own
 * error has no place for most faults, and quotes what is around it. Each character is met once (a MiB: some ms), and
 * nothing is built: whoever sends a long text that is broken in the end costs no more than one that is well.
 */
export function jsonFault(text: string): string | undefined {
  return new Reader(text).fault();
}

/** Where a reader is: before what, in the innermost list or object. */
type Before = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end';

class Reader {
  private at = 0;
  private readonly open: ('{' | '[')[] = [];
  private before: Before = 'value';
  private found: string | undefined;

  constructor(private readonly text: string) {}

  fault(): string | undefined {
    for (this.skip(SPACE); this.found === undefined; this.skip(SPACE)) {
      if (this.isWhole)
        return this.at < this.text.length ? this.got('Expected end of input') : undefined;
      this.step();
    }
    return this.found;
  }

  private get isWhole(): boolean {
    return this.before === 'comma or end' && this.open.length === 0;
  }

  private step(): void {
    const char = this.text[this.at];
    switch (this.before) {
      case 'colon':
        if (char !== ':') return this.refuse("Colon ':' expected after property name");
        this.at += 1;
        this.before = 'value';
        return;
      case 'comma or end':
        if (char === this.closing) return this.close();
        if (char !== ',') return this.refuse(this.unseparated(char));
        this.at += 1;
        this.before = this.open.at(-1) === '{' ? 'key' : 'value';
        return;
      case 'key or end':
      case 'key':
        if (char === '}' && this.before === 'key or end') return this.close();
        if (char !== '"') return this.refuse('Quoted object key expected');
        this.string();
        this.before = 'colon';
        return;
      default:
        if (char === ']' && this.before === 'value or end') return this.close();
        this.value(char);
    }
  }

  private value(char: string | undefined): void {
    if (char === '{' || char === '[') {
      this.open.push(char);
      this.at += 1;
      this.before = char === '{' ? 'key or end' : 'value or end';
      return;
    }
    if (char === '"') this.string();
    else if (this.skip(KEYWORD) === 0 && !this.number()) return this.refuse(this.missing());
    this.before = 'comma or end';
  }

  private missing(): string {
    const holder = this.open.at(-1);
    if (holder === undefined) return 'JSON value expected';
    return holder === '[' ? 'Array item expected' : "Object value expected after ':'";
  }

  private unseparated(char: string | undefined): string {
    if (char !== undefined) return "Comma ',' expected after value";
    return this.closing === '}' ? "End of object '}' expected" : "End of array ']' expected";
  }

  private number(): boolean {
    if (this.skip(NUMBER) === 0) return false;
    if (OF_NUMBER.test(this.text[this.at] ?? '')) this.refuse('Invalid number');
    return true;
  }

  private string(): void {
    const { text } = this;
    for (let at = this.at + 1; ; at += 1) {
      const code = text.charCodeAt(at);
      this.at = at;
      if (Number.isNaN(code)) return this.refuse("End of string '\"' expected");
      if (code < FIRST_PLAIN) return this.refuse('Invalid character');
      if (code === BACKSLASH) {
        at += 1;
        if (!ESCAPED.has(text[at] ?? '')) return this.refuse('Invalid escape character');
        if (text[at] === 'u') {
          HEX_DIGITS.lastIndex = at + 1;
          if (!HEX_DIGITS.test(text)) return this.refuse('Invalid unicode character');
          at += 4;
        }
      } else if (code === QUOTE) {
        this.at = at + 1;
        return;
      }
    }
  }

  private get closing(): string | undefined {
    const holder = this.open.at(-1);
    return holder === undefined ? undefined : holder === '{' ? '}' : ']';
  }

  private close(): void {
    this.open.pop();
    this.at += 1;
    this.before = 'comma or end';
  }

  /** Goes past what the (sticky) pattern fits; the number of its characters. */
  private skip(pattern: RegExp): number {
    const start = this.at;
    pattern.lastIndex = start;
    if (pattern.test(this.text)) this.at = pattern.lastIndex;
    return this.at - start;
  }

  private refuse(expected: string): void {
    this.found ??= this.got(expected);
  }

  private got(expected: string): string {
    const { text, at } = this;
    const got =
      at < text.length ? `but got '${shown(text[at] ?? '')}'` : 'but reached end of input';
    return `${expected} ${got} at position ${at}`;
  }
}

/** A character for a message; what does not show, and half of one, by its escape. */
function shown(char: string): string {
  return char >= ' ' && char < '\u007f' ? char : JSON.stringify(char).slice(1, -1);
}
