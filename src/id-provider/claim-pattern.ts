import { createContext, Script, type Context } from 'node:vm';
import { ConfigurationError } from '#src/oauth2-client/index.js';

/** Longer values never match: the price of a bad pattern grows with the value. */
export const MAX_VALUE_LENGTH = 1024;
const MAX_CACHED = 1000;
const GUARD_MILLISECONDS = 50;

/** A compiled pattern; `match` answers the named groups, or undefined. */
export interface ClaimPattern {
  match(value: string): Record<string, string | null> | undefined;
}

/** The translated source and what was seen on the way. */
interface Translation {
  source: string;
  /** True when matching may take more than quadratic time. */
  risky: boolean;
}

/** One open group while scanning: whether something inside repeats or branches. */
interface OpenGroup {
  repeats: boolean;
}

/**
 * Translates the named groups of the interface's (Python) notation and looks for what can backtrack without
 * end: a repeated group that itself repeats or branches, or three unbounded repetitions in a row.
 */
class PatternScanner {
  private at = 0;
  private source = '';
  private inClass = false;
  private unbounded = 0;
  private risky = false;
  private readonly groups: OpenGroup[] = [{ repeats: false }];

  constructor(private readonly pattern: string) {}

  scan(): Translation {
    while (this.at < this.pattern.length) this.step();
    return { source: this.source, risky: this.risky || this.unbounded > 2 };
  }

  private take(count: number, replacement?: string): void {
    this.source += replacement ?? this.pattern.slice(this.at, this.at + count);
    this.at += count;
  }

  private step(): void {
    const char = this.pattern[this.at];
    if (char === '\\') this.escape();
    else if (this.inClass) {
      if (char === ']') this.inClass = false;
      this.take(1);
    } else if (char === '[') {
      this.inClass = true;
      this.take(1);
    } else if (char === '(') this.open();
    else if (char === ')') this.close();
    else {
      if (char === '*' || char === '+' || char === '{') this.repeat();
      if (char === '|') this.top().repeats = true;
      this.take(1);
    }
  }

  private escape(): void {
    const next = this.pattern[this.at + 1] ?? '';
    if (!this.inClass && next === 'A') this.take(2, '^');
    else if (!this.inClass && next === 'Z') this.take(2, '$');
    else {
      if (!this.inClass && /[1-9k]/.test(next)) this.risky = true;
      this.take(2);
    }
  }

  private open(): void {
    const rest = this.pattern.slice(this.at, this.at + 4);
    if (rest.startsWith('(?P=')) {
      const end = this.pattern.indexOf(')', this.at);
      if (end < 0) throw new SyntaxError('unterminated back reference');
      this.risky = true;
      this.take(end + 1 - this.at, `\\k<${this.pattern.slice(this.at + 4, end)}>`);
      return;
    }
    this.groups.push({ repeats: false });
    if (rest.startsWith('(?P<')) this.take(4, '(?<');
    else this.take(1);
  }

  private close(): void {
    const inner = this.groups.length > 1 ? this.groups.pop() : undefined;
    this.take(1);
    const repeated = /^(?:[*+]|\{\d*(?:,\d*)?\})/.test(this.pattern.slice(this.at, this.at + 12));
    if (inner?.repeats === true && repeated) this.risky = true;
    if (inner?.repeats === true) this.top().repeats = true;
  }

  private repeat(): void {
    this.unbounded += 1;
    this.top().repeats = true;
  }

  private top(): OpenGroup {
    return this.groups.at(-1) as OpenGroup;
  }
}

let guardContext: (Context & { pattern?: RegExp; value?: string }) | undefined;
let guardScript: Script | undefined;

/** Matches under a watchdog: V8 stops a runaway match, which then counts as no match. */
function guardedExec(pattern: RegExp, value: string): RegExpExecArray | null {
  guardContext ??= createContext({}) as Context & { pattern?: RegExp; value?: string };
  guardScript ??= new Script('pattern.lastIndex = 0; pattern.exec(value)');
  guardContext.pattern = pattern;
  guardContext.value = value;
  try {
    return guardScript.runInContext(guardContext, {
      timeout: GUARD_MILLISECONDS,
    }) as RegExpExecArray | null;
  } catch {
    return null;
  } finally {
    delete guardContext.pattern;
    delete guardContext.value;
  }
}

function plainExec(pattern: RegExp, value: string): RegExpExecArray | null {
  pattern.lastIndex = 0;
  return pattern.exec(value);
}

function build(text: string): ClaimPattern {
  const inline = /^\(\?([ims]{1,3})\)/.exec(text);
  let regex: RegExp;
  let risky: boolean;
  try {
    const translation = new PatternScanner(text.slice(inline?.[0].length ?? 0)).scan();
    risky = translation.risky;
    // sticky anchors the match at the start and nowhere else, as the interface's language does
    regex = new RegExp(translation.source, `y${inline?.[1] ?? ''}`);
  } catch (cause) {
    throw new ConfigurationError('a claim pattern is no valid regular expression', { cause });
  }
  const exec = risky ? guardedExec : plainExec;
  return {
    match(value) {
      if (value.length > MAX_VALUE_LENGTH) return undefined;
      const found = exec(regex, value);
      if (found === null) return undefined;
      const groups = Object.create(null) as Record<string, string | null>;
      for (const [name, part] of Object.entries(found.groups ?? {})) groups[name] = part ?? null;
      return groups;
    },
  };
}

const compiled = new Map<string, ClaimPattern>();

/** Compiles a pattern once; throws ConfigurationError when it is no regular expression. */
export function compilePattern(text: string): ClaimPattern {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const pattern = build(text);
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(text, pattern);
  return pattern;
}
