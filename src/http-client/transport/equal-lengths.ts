import type { Parser } from './undici-parser.js';

/** What llhttp says of a length that is there already, and of one that is no number. */
const ALREADY_THERE = 4;
const NO_NUMBER = 11;
const LINE = /^content-length:([\d, \t]+)\r?\n$/i;
const NOTHING = Buffer.alloc(0);
const LONGEST_LINE = 1024;
/** The headers are read from their start again for each of them. */
const MOST_REPETITIONS = 8;

/**
 * Takes equal lengths for one (RFC 9110 §8.6), which llhttp never does: where it refuses a Content-Length, and every
 * number of that line is the one that is known, the headers are read again without the repetition. Different lengths
 * stay refused, since nobody can tell then where the answer ends.
 */
export function takeEqualLengths(parser: Parser): void {
  const lengths = new EqualLengths(parser);
  const { llhttp } = parser;
  const llhttp_execute: typeof llhttp.llhttp_execute = (pointer, buffer, length) => {
    const code = llhttp.llhttp_execute(pointer, buffer, length);
    const isTaken = lengths.refused(code, buffer + length - llhttp.llhttp_get_error_pos(pointer));
    return isTaken ? 0 : code;
  };
  parser.llhttp = Object.create(llhttp, {
    llhttp_execute: { value: llhttp_execute },
  }) as Parser['llhttp'];
  const complete = parser.onHeadersComplete.bind(parser);
  const end = parser.onMessageComplete.bind(parser);
  parser.execute = (bytes) => lengths.execute(bytes);
  parser.onHeadersComplete = (statusCode, ...more) => {
    if (statusCode >= 200) lengths.isHead = false;
    return complete(statusCode, ...more);
  };
  parser.onMessageComplete = () => {
    lengths.isHead = true;
    return end();
  };
}

class EqualLengths {
  /** The headers so far. */
  #pieces: Buffer[] = [];
  #isHead = true;
  #repetitions = 0;
  /** The refusal that is being looked at: `rest` bytes of the headers were not read. */
  #refusal: { code: number; rest: number } | undefined;
  readonly #execute: Parser['execute'];

  constructor(private readonly parser: Parser) {
    this.#execute = parser.execute.bind(parser);
  }

  /** Whether the bytes that come are headers; those of a 1xx belong to those of the answer. */
  set isHead(isHead: boolean) {
    if (isHead === this.#isHead) return;
    this.#isHead = isHead;
    this.#pieces = [];
    this.#repetitions = 0;
  }

  /** Told what llhttp says, and how many bytes it has not read; true when the refusal is looked at here. */
  refused(code: number, rest: number): boolean {
    if (!this.#isHead || (code !== ALREADY_THERE && code !== NO_NUMBER)) return false;
    this.#refusal = { code, rest };
    return true;
  }

  execute(bytes: Buffer): void {
    if (!this.#isHead) {
      this.#execute(bytes);
      return;
    }
    this.#pieces.push(bytes);
    if (this.#refusal === undefined) this.#execute(bytes);
    else this.#refusal.rest += bytes.length;
    while (this.#refusal !== undefined) {
      const { code, rest } = this.#refusal;
      const head = Buffer.concat(this.#pieces);
      const start = head.lastIndexOf('\n', head.length - rest - 1) + 1;
      const end = head.indexOf('\n', head.length - rest) + 1;
      if (end === 0 && head.length - start < LONGEST_LINE) return; // it goes on
      this.#refusal = undefined;
      const line = this.#repetition(code, head.toString('latin1', start, end));
      if (line === undefined) {
        this.parser.socket.destroy(this.parser.createError(code, NOTHING));
        return;
      }
      this.#again(Buffer.concat([head.subarray(0, start), line, head.subarray(end)]));
    }
  }

  /** What stands for a refused line; undefined when it is refused for good. */
  #repetition(code: number, line: string): Buffer | undefined {
    const numbers =
      LINE.exec(line)?.[1]
        ?.split(',')
        .map((number) => number.trim()) ?? [];
    const known = code === ALREADY_THERE ? this.parser.contentLength : numbers[0];
    const isEqual = numbers.every((number) => number !== '' && number === known);
    this.#repetitions += 1;
    if (numbers.length === 0 || !isEqual || this.#repetitions > MOST_REPETITIONS) return undefined;
    return code === ALREADY_THERE ? NOTHING : Buffer.from(`Content-Length: ${known}\r\n`);
  }

  #again(head: Buffer): void {
    const { parser } = this;
    parser.llhttp.llhttp_reset(parser.ptr);
    const fresh = {
      headers: [],
      headersSize: 0,
      statusText: '',
      contentLength: '',
      keepAlive: '',
      connection: '',
    };
    Object.assign(parser, fresh);
    this.#pieces = [head];
    this.#execute(head);
  }
}
