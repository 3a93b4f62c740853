import { ByteBuffer } from '#src/kernel/index.js';

/** Cuts the manifests out of a body while it arrives; each is the bytes of its JSON text, not looked at further. */
export interface ManifestSplitter {
  /** Manifests that end in this piece of the body; undefined for one that is longer than `maxBytes`. */
  push(piece: Buffer): Generator<Buffer | undefined>;
  /** What is left at the end of the body: a last line (undefined when it is too long), or what follows the list. */
  end(): Buffer | undefined;
}

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LIST = ['"manifests"', ':', '['];
const OPENINGS = [
  ['{', ...LIST],
  ['{', '"array"', ':', 'true', ',', ...LIST],
  ['{', '"array"', ':', 'false', ',', ...LIST],
] as const;

/** One manifest a line. */
export class LineSplitter implements ManifestSplitter {
  private readonly begun: BoundedPart;

  constructor(maxBytes: number) {
    this.begun = new BoundedPart(maxBytes);
  }

  *push(piece: Buffer): Generator<Buffer | undefined> {
    let start = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      this.begun.add(piece.subarray(start, end));
      yield this.begun.take();
      start = end + 1;
    }
    this.begun.add(piece.subarray(start));
  }

  end(): Buffer | undefined {
    return this.begun.take();
  }
}

/**
 * The elements of the list in `{"manifests": [`, from behind the bracket. It knows texts, brackets and commas and
 * nothing else: whether an element is JSON is seen when it is read, so no text, nesting or number costs more here than
 * its bytes, once.
 */
export class ListSplitter implements ManifestSplitter {
  private readonly element: BoundedPart;
  private readonly tail: BoundedPart;
  private depth = 0;
  private inText = false;
  private isEscaped = false;
  private isEmpty = true;
  /** True when the list has ended. */
  isDone = false;

  constructor(maxBytes: number) {
    this.element = new BoundedPart(maxBytes);
    this.tail = new BoundedPart(maxBytes);
  }

  *push(piece: Buffer): Generator<Buffer | undefined> {
    let start = 0;
    for (let at = 0; at < piece.length && !this.isDone; at += 1) {
      if (!this.endsElement(piece[at] as number)) continue;
      this.element.add(piece.subarray(start, at));
      start = at + 1;
      const isLast = piece[at] === CLOSE_BRACKET;
      const bytes = this.element.take();
      if (isLast) this.isDone = true;
      if (!isLast || !this.isEmpty || !bytes || !isBlank(bytes)) yield bytes;
      this.isEmpty = false;
    }
    const rest = piece.subarray(start);
    // White space behind the list may be long, and means nothing.
    if (this.isDone) this.tail.add(rest.filter((byte) => !isBlankByte(byte)) as Buffer);
    else this.element.add(rest);
  }

  end(): Buffer {
    return (this.isDone ? this.tail : this.element).take() ?? Buffer.from('?');
  }

  private endsElement(byte: number): boolean {
    if (this.inText) {
      if (this.isEscaped) this.isEscaped = false;
      else if (byte === BACKSLASH) this.isEscaped = true;
      else if (byte === QUOTE) this.inText = false;
      return false;
    }
    if (byte === QUOTE) this.inText = true;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (this.depth === 0) return byte === CLOSE_BRACKET;
      this.depth -= 1;
    } else if (byte === COMMA) return this.depth === 0;
    return false;
  }
}

/** Tells by the first bytes of a body whether it begins with `{"manifests": [`; `"array"` may stand in front of it. */
export class ListOpening {
  private ways = OPENINGS.map((tokens) => new OpeningWay(tokens));
  /** What `"array"` in front of the list says. */
  array: boolean | undefined;

  /** The place behind the bracket when it is in this piece, false when the body begins otherwise. */
  find(piece: Buffer): number | false | undefined {
    for (const way of this.ways) {
      const found = way.find(piece);
      if (typeof found === 'number') {
        const [, , , value] = way.tokens;
        if (way.tokens !== OPENINGS[0]) this.array = value === 'true';
        return found;
      }
      if (found === false) this.ways = this.ways.filter((other) => other !== way);
    }
    return this.ways.length === 0 ? false : undefined;
  }
}

/** One way in which a body may begin. */
class OpeningWay {
  private token = 0;
  private letter = 0;
  private bom = 0;

  constructor(readonly tokens: readonly string[]) {}

  /** The place behind the bracket when it is in this piece, false when the body begins otherwise. */
  find(piece: Buffer): number | false | undefined {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (this.token === 0 && byte === [0xef, 0xbb, 0xbf][this.bom]) {
        this.bom += 1;
        continue;
      }
      if (this.letter === 0 && isBlankByte(byte)) continue;
      const expected = this.tokens[this.token] as string;
      if (byte !== expected.charCodeAt(this.letter)) return false;
      this.letter += 1;
      if (this.letter < expected.length) continue;
      this.letter = 0;
      this.token += 1;
      if (this.token === this.tokens.length) return at + 1;
    }
    return undefined;
  }
}

/** True for JSON's white space only. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every(isBlankByte);
}

function isBlankByte(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Bytes up to a bound; what is longer is counted and not kept. */
class BoundedPart {
  private readonly kept = new ByteBuffer();
  private isTooLong = false;

  constructor(private readonly maxBytes: number) {}

  add(piece: Buffer): void {
    if (this.isTooLong) return;
    this.isTooLong = this.kept.length + piece.length > this.maxBytes;
    if (this.isTooLong) this.kept.take();
    else if (piece.length > 0) this.kept.add(piece);
  }

  take(): Buffer | undefined {
    const taken = this.isTooLong ? undefined : this.kept.take();
    this.isTooLong = false;
    return taken;
  }
}
