import { ConfigurationError } from '#src/oauth2-client/index.js';
import { compilePattern, MAX_STEPS } from './claim-pattern.js';
import type { StepBudget } from './python-pattern-program.js';

/** Per claim a regular expression with named groups, or the same for the members of a claim that is an object. */
export interface ClaimAttributes {
  [claim: string]: string | ClaimAttributes;
}

/** The named groups of one match; a group that took no part is null. */
export type ClaimGroups = Record<string, string | null>;

/** What claimParser answers: per claim the groups, nested results, or a list of either. */
export interface ParsedClaims {
  [claim: string]: ClaimGroups | ParsedClaims | (ClaimGroups | ParsedClaims)[];
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
    return String(value);
  }
  return undefined;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function emptyResult(): ParsedClaims {
  return Object.create(null) as ParsedClaims;
}

/** One value against one spec; undefined when they do not fit together. */
function parseValue(
  value: unknown,
  spec: string | ClaimAttributes,
  budget: StepBudget,
): ClaimGroups | ParsedClaims | undefined {
  if (typeof spec === 'string') {
    const text = textOf(value);
    return text === undefined ? undefined : compilePattern(spec).match(text, budget);
  }
  if (!isPlainObject(value)) return undefined;
  const nested = parseClaims(value, spec, budget);
  return Object.keys(nested).length > 0 ? nested : undefined;
}

/**
 * Selects and parses claims (interface "What the service does" 6). Per claim of `attributes`: absent or null →
 * no key; text → the named groups of a match anchored at the start, else `{}`; object → the nested result, else
 * `{}`; list → the results of the matching items. Patterns are those of Python's `re`. Numbers and booleans count as
 * text; values beyond 1 KiB never match, nor do those that are left when a call has taken MAX_STEPS steps. Never throws on claims; throws ConfigurationError for an invalid pattern. Results have no prototype.
 */
export function claimParser(
  claimDict: Readonly<Record<string, unknown>>,
  attributes: ClaimAttributes,
): ParsedClaims {
  checkAttributes(attributes);
  if (!isPlainObject(claimDict)) return emptyResult();
  return parseClaims(claimDict, attributes, { left: MAX_STEPS });
}

function parseClaims(
  claimDict: Readonly<Record<string, unknown>>,
  attributes: ClaimAttributes,
  budget: StepBudget,
): ParsedClaims {
  const result = emptyResult();
  for (const [claim, spec] of Object.entries(attributes)) {
    if (!Object.hasOwn(claimDict, claim)) continue;
    const value = claimDict[claim];
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) {
      result[claim] = value
        .map((item: unknown) => parseValue(item, spec, budget))
        .filter((parsed) => parsed !== undefined);
    } else {
      result[claim] = parseValue(value, spec, budget) ?? emptyResult();
    }
  }
  return result;
}

/** Compiles every pattern; throws ConfigurationError for one that is invalid or no text. */
export function checkAttributes(attributes: unknown): asserts attributes is ClaimAttributes {
  if (!isPlainObject(attributes)) throw new ConfigurationError('attributes is no dictionary');
  for (const spec of Object.values(attributes)) {
    if (typeof spec === 'string') compilePattern(spec);
    else checkAttributes(spec);
  }
}
