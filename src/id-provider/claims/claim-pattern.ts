import { ConfigurationError } from '#src/oauth2-client/index.js';
import { PythonPatternParser } from './python-pattern-parser.js';
import { PatternProgram, type StepBudget } from './python-pattern-program.js';

/** Longer values never match: what matching costs grows with the value. */
export const MAX_VALUE_LENGTH = 1024;
/** Steps that matching all values of one call may take; what is beyond does not match. */
export const MAX_STEPS = 300_000;
const MAX_CACHED = 1000;

/** A compiled pattern; `match` answers the named groups, or undefined. */
export interface ClaimPattern {
  match(value: string, budget: StepBudget): Record<string, string | null> | undefined;
}

function build(text: string): ClaimPattern {
  const parsed = new PythonPatternParser(text).parse();
  const program = new PatternProgram(parsed);
  return {
    match(value, budget) {
      if (value.length > MAX_VALUE_LENGTH) return undefined;
      const points = Array.from(value, (char) => char.codePointAt(0) as number);
      const slots = program.match(points, budget);
      if (slots === undefined) return undefined;
      const groups = Object.create(null) as Record<string, string | null>;
      for (const [name, group] of parsed.names) {
        const [from = -1, to = -1] = [slots[2 * group], slots[2 * group + 1]];
        groups[name] = to < 0 ? null : String.fromCodePoint(...points.slice(from, to));
      }
      return groups;
    },
  };
}

const compiled = new Map<string, ClaimPattern>();

/** Compiles a pattern once; throws ConfigurationError when it is no regular expression. */
export function compilePattern(text: string): ClaimPattern {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  let pattern: ClaimPattern;
  try {
    pattern = build(text);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ConfigurationError(
      `a claim pattern is no regular expression that is known here: ${cause.message}`,
      { cause },
    );
  }
  if (compiled.size >= MAX_CACHED) compiled.clear();
  compiled.set(text, pattern);
  return pattern;
}
