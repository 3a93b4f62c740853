import { casesOf, categoryOf, fold, isWord, type CharacterTest } from './python-characters.js';
import { widthOf, type PatternNode } from './python-pattern-nodes.js';

/** Flags of a part of a pattern. */
interface Flags {
  a: boolean;
  i: boolean;
  m: boolean;
  s: boolean;
  x: boolean;
}

/** A pattern taken apart. */
export interface ParsedPattern {
  body: PatternNode;
  /** Number of groups that capture. */
  groups: number;
  /** Group numbers by name, in the order of the pattern. */
  names: ReadonlyMap<string, number>;
}

const MOST_REPEATS = 1000;
const DEEPEST = 100;
const NAME = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };
const BLANK = /^[ \t\n\r\v\f]$/;

/**
 * Takes a regular expression in Python's notation apart (module `re`, text patterns). Throws SyntaxError for what Python
 * refuses, and for what is not carried over: possessive repetitions, atomic groups, `\N{…}`.
 */
export class PythonPatternParser {
  private at = 0;
  private depth = 0;
  private groups = 0;
  private flags: Flags = { a: false, i: false, m: false, s: false, x: false };
  private readonly names = new Map<string, number>();
  /** Finished groups; one that is open cannot be referred to. */
  private readonly bodies = new Map<number, PatternNode>();
  private conditions: number[] = [];
  private readonly chars: string[];

  constructor(pattern: string) {
    this.chars = Array.from(pattern);
  }

  parse(): ParsedPattern {
    const body = this.choice(true);
    if (this.at < this.chars.length) throw new SyntaxError('unbalanced parenthesis');
    if (this.conditions.some((group) => group > this.groups)) {
      throw new SyntaxError('a condition asks for a group that is not there');
    }
    return { body, groups: this.groups, names: this.names };
  }

  private peek(text: string): boolean {
    return Array.from(text).every((char, index) => this.chars[this.at + index] === char);
  }

  private take(text: string): boolean {
    const isThere = this.peek(text);
    if (isThere) this.at += text.length;
    return isThere;
  }

  private next(): string {
    const char = this.chars[this.at];
    if (char === undefined) throw new SyntaxError('the pattern ends too early');
    this.at += 1;
    return char;
  }

  private until(end: string): string {
    let text = '';
    for (let char = this.next(); char !== end; char = this.next()) text += char;
    return text;
  }

  private choice(isStart = false): PatternNode {
    const options = [this.sequence(isStart)];
    while (this.take('|')) options.push(this.sequence(false));
    return options.length === 1 ? (options[0] as PatternNode) : { kind: 'choice', options };
  }

  private sequence(isStart: boolean): PatternNode {
    const items: PatternNode[] = [];
    while (this.at < this.chars.length && !this.peek('|') && !this.peek(')')) {
      const char = this.next();
      if (this.flags.x && BLANK.test(char)) continue;
      if (this.flags.x && char === '#') this.skipLine();
      else if (char === '*') this.repeat(items, 0, Infinity);
      else if (char === '+') this.repeat(items, 1, Infinity);
      else if (char === '?') this.repeat(items, 0, 1);
      else if (char === '{' && this.count(items)) continue;
      else items.push(...this.item(char, isStart && items.length === 0));
    }
    return { kind: 'sequence', items };
  }

  private skipLine(): void {
    while (this.at < this.chars.length && this.next() !== '\n');
  }

  /** `{m}`, `{m,}`, `{,n}`, `{m,n}`; anything else is a brace like any other character. */
  private count(items: PatternNode[]): boolean {
    const rest = this.chars.slice(this.at, this.at + 24).join('');
    const found = /^(?:(\d+)|(\d*),(\d*))\}/.exec(rest);
    if (found === null) return false;
    const [all, exact, from, to] = found;
    this.at += all.length;
    const min = Number(exact ?? from);
    const max = exact ?? to;
    this.repeat(items, min, max === '' || max === undefined ? Infinity : Number(max));
    return true;
  }

  private repeat(items: PatternNode[], min: number, max: number): void {
    const body = items.pop();
    if (body === undefined || body.kind === 'assert') throw new SyntaxError('nothing to repeat');
    if (body.kind === 'repeat') throw new SyntaxError('multiple repeat');
    if (max < min) throw new SyntaxError('min repeat greater than max repeat');
    if (min > MOST_REPEATS || (max > MOST_REPEATS && max !== Infinity)) {
      throw new SyntaxError(`more than ${MOST_REPEATS} repetitions`);
    }
    const lazy = this.take('?');
    if (!lazy && this.peek('+')) throw new SyntaxError('possessive repetition is not supported');
    items.push({ kind: 'repeat', body, min, max, lazy });
  }

  private item(char: string, isStart: boolean): PatternNode[] {
    const { m, s, i, a } = this.flags;
    if (char === '.') return [{ kind: 'set', test: (point) => s || point !== 10 }];
    if (char === '^') return [{ kind: 'assert', test: m ? atLineStart : atStart }];
    if (char === '$') return [{ kind: 'assert', test: m ? atLineEnd : beforeLastNewline }];
    if (char === '(') return this.group(isStart);
    if (char === '[') return [this.set()];
    if (char !== '\\') return [literal(pointOf(char), i, a)];
    return [this.escape()];
  }

  private escape(): PatternNode {
    const char = this.next();
    const { a, i } = this.flags;
    const category = categoryOf(char, a);
    if (category !== undefined) return { kind: 'set', test: category };
    if (char === 'A') return { kind: 'assert', test: atStart };
    if (char === 'Z') return { kind: 'assert', test: atEnd };
    if (char === 'b' || char === 'B') return { kind: 'assert', test: boundary(char === 'b', a) };
    if (/^[1-9]$/.test(char)) return this.numbered(char);
    return literal(this.character(char), i, a);
  }

  /** A back reference of one or two digits, or three octal ones for a character. */
  private numbered(first: string): PatternNode {
    const { a, i } = this.flags;
    const rest = this.chars.slice(this.at, this.at + 2).join('');
    if (/^[0-3]$/.test(first) && /^[0-7]{2}$/.test(rest)) {
      this.at += 2;
      return literal(parseInt(first + rest, 8), i, a);
    }
    if (/^[4-7]$/.test(first) && /^[0-7]{2}$/.test(rest)) {
      throw new SyntaxError('octal escape value outside of range 0-0o377');
    }
    const second = /^\d/.exec(rest)?.[0] ?? '';
    this.at += second.length;
    return this.reference(Number(first + second));
  }

  private reference(group: number): PatternNode {
    const body = this.bodies.get(group);
    if (body === undefined) throw new SyntaxError('a back reference to no group, or an open one');
    const { a, i } = this.flags;
    return { kind: 'reference', group, body, fold: i ? (point) => fold(point, a) : undefined };
  }

  /** The character of an escape that means one, in and outside of sets. */
  private character(char: string): number {
    const control = Object.hasOwn(CONTROLS, char) ? CONTROLS[char] : undefined;
    if (control !== undefined) return control;
    if (char === '0') return this.octal();
    const digits = { x: 2, u: 4, U: 8 }[char];
    if (digits === undefined) {
      if (/^[0-9A-Za-z]$/.test(char)) throw new SyntaxError(`bad escape \\${char}`);
      return pointOf(char);
    }
    const hex = this.chars.slice(this.at, this.at + digits).join('');
    const isWhole = hex.length === digits && /^[0-9A-Fa-f]+$/.test(hex);
    const point = isWhole ? parseInt(hex, 16) : NaN;
    if (!(point <= 0x10ffff)) throw new SyntaxError(`incomplete escape \\${char}`);
    this.at += digits;
    return point;
  }

  private octal(): number {
    const digits = /^[0-7]{0,2}/.exec(this.chars.slice(this.at, this.at + 2).join(''))?.[0] ?? '';
    this.at += digits.length;
    return parseInt(`0${digits}`, 8);
  }

  private set(): PatternNode {
    const { a, i } = this.flags;
    const isNegated = this.take('^');
    const tests: CharacterTest[] = [];
    for (let first = true; first || !this.peek(']'); first = false) {
      const from = this.setMember();
      if (!this.peek('-') || this.chars[this.at + 1] === ']') {
        tests.push(typeof from === 'number' ? range(from, from, i, a) : from);
        continue;
      }
      this.at += 1;
      const to = this.setMember();
      if (typeof from !== 'number' || typeof to !== 'number' || to < from) {
        throw new SyntaxError('bad character range');
      }
      tests.push(range(from, to, i, a));
    }
    this.at += 1;
    return { kind: 'set', test: (point) => tests.some((test) => test(point)) !== isNegated };
  }

  private setMember(): number | CharacterTest {
    const char = this.next();
    if (char !== '\\') return pointOf(char);
    const escaped = this.next();
    if (escaped === 'b') return 8;
    if (/^[1-7]$/.test(escaped)) {
      const rest = /^[0-7]{0,2}/.exec(this.chars.slice(this.at, this.at + 2).join(''))?.[0] ?? '';
      const point = parseInt(escaped + rest, 8);
      if (point > 0o377) throw new SyntaxError('octal escape value outside of range 0-0o377');
      this.at += rest.length;
      return point;
    }
    return categoryOf(escaped, this.flags.a) ?? this.character(escaped);
  }

  private group(isStart: boolean): PatternNode[] {
    if (!this.take('?')) return [this.capturing()];
    if (this.take('#')) {
      this.until(')');
      return [];
    }
    if (this.take('P<')) return [this.capturing(this.until('>'))];
    if (this.take('P=')) return [this.reference(this.numberOf(this.until(')')))];
    if (this.take('(')) return [this.conditional()];
    if (this.take(':')) return [this.inside()];
    if (this.take('=')) return [this.look(true, false)];
    if (this.take('!')) return [this.look(true, true)];
    if (this.take('<=')) return [this.look(false, false)];
    if (this.take('<!')) return [this.look(false, true)];
    if (this.peek('>')) throw new SyntaxError('atomic groups are not supported');
    return this.flagGroup(isStart);
  }

  private numberOf(name: string): number {
    const group = this.names.get(name);
    if (group === undefined || !NAME.test(name)) throw new SyntaxError('unknown group name');
    return group;
  }

  private capturing(name?: string): PatternNode {
    this.groups += 1;
    const group = this.groups;
    if (name !== undefined) {
      if (!NAME.test(name) || this.names.has(name)) throw new SyntaxError('bad group name');
      this.names.set(name, group);
    }
    const body = this.inside();
    this.bodies.set(group, body);
    return { kind: 'group', group, body };
  }

  /** What stands before the closing parenthesis; flags set within end there. */
  private inside(flags: Flags = this.flags): PatternNode {
    const before = this.flags;
    this.depth += 1;
    if (this.depth > DEEPEST) throw new SyntaxError('too many nested groups');
    this.flags = flags;
    const body = this.choice();
    this.flags = before;
    this.depth -= 1;
    if (!this.take(')')) throw new SyntaxError('missing ), unterminated subpattern');
    // wrapped, since `(?:a*)*` may be repeated, while `a**` may not
    return { kind: 'sequence', items: [body] };
  }

  private look(isAhead: boolean, isNegated: boolean): PatternNode {
    const known = this.groups;
    const body = this.inside();
    if (isAhead) return { kind: 'look', body, isNegated, behind: undefined };
    const [least, most] = widthOf(body, known);
    if (least !== most) throw new SyntaxError('look-behind requires fixed-width pattern');
    return { kind: 'look', body, isNegated, behind: least };
  }

  private conditional(): PatternNode {
    const name = this.until(')');
    const group = /^\d{1,2}$/.test(name) ? Number(name) : this.numberOf(name);
    if (group === 0) throw new SyntaxError('bad group number');
    this.conditions.push(group);
    const { items } = this.inside() as { items: PatternNode[] };
    const [body] = items;
    const options = body?.kind === 'choice' ? body.options : [body as PatternNode];
    if (options.length > 2) throw new SyntaxError('conditional with more than two branches');
    const empty: PatternNode = { kind: 'sequence', items: [] };
    return { kind: 'condition', group, yes: options[0] ?? empty, no: options[1] ?? empty };
  }

  private flagGroup(isStart: boolean): PatternNode[] {
    let text = '';
    while (!this.peek(')') && !this.peek(':')) text += this.next();
    const isGlobal = this.next() === ')';
    const found = /^([aimsux]*)(?:-([imsx]+))?$/.exec(text);
    const [, on = '', off] = found ?? [];
    const clashes =
      (on.includes('a') && on.includes('u')) || [...(off ?? '')].some((f) => on.includes(f));
    if (found === null || clashes || (on === '' && off === undefined)) {
      throw new SyntaxError('unknown extension or bad inline flags');
    }
    if (isGlobal && (!isStart || off !== undefined || this.depth > 0)) {
      throw new SyntaxError('global flags not at the start of the expression');
    }
    const flags = { ...this.flags };
    for (const flag of on) {
      if (flag === 'u') flags.a = false;
      else flags[flag as keyof Flags] = true;
    }
    for (const flag of off ?? '') flags[flag as keyof Flags] = false;
    if (!isGlobal) return [this.inside(flags)];
    this.flags = flags;
    return [];
  }
}

type Position = (text: readonly number[], at: number) => boolean;

const atStart: Position = (_text, at) => at === 0;
const atEnd: Position = (text, at) => at === text.length;
const atLineStart: Position = (text, at) => at === 0 || text[at - 1] === 10;
const atLineEnd: Position = (text, at) => at === text.length || text[at] === 10;
const beforeLastNewline: Position = (text, at) =>
  at === text.length || (at === text.length - 1 && text[at] === 10);

function boundary(isWanted: boolean, ascii: boolean): Position {
  return (text, at) => {
    const [before, after] = [text[at - 1], text[at]];
    const left = before !== undefined && isWord(before, ascii);
    const right = after !== undefined && isWord(after, ascii);
    return (left !== right) === isWanted;
  };
}

function pointOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function literal(point: number, ignoresCase: boolean, ascii: boolean): PatternNode {
  return { kind: 'set', test: range(point, point, ignoresCase, ascii) };
}

function range(from: number, to: number, ignoresCase: boolean, ascii: boolean): CharacterTest {
  if (!ignoresCase) return (point) => point >= from && point <= to;
  return (point) => casesOf(point, ascii).some((it) => it >= from && it <= to);
}
