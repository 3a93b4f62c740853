import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import { isTextList, type Faults } from './manifest-values.js';

/** Variable of a job that names the file with its token (WLCG bearer token discovery 1.0). */
export const TOKEN_FILE_VARIABLE = 'BEARER_TOKEN_FILE';

/**
 * Among the tags that a job with a token wants of its site. No site can declare it, as it is no tag: those that give tokens
 * have it by their nature.
 */
export const TOKEN_TAG = '@token';

/** What a job wants its token to be. */
export interface TokenWish {
  /** Words separated by blanks. */
  scope: string;
  audience?: string[];
}

const MAX_SCOPES = 100;

/** True for a job that wants a token. */
export function wantsToken(manifest: JsonObject): boolean {
  return manifest['Token'] !== undefined;
}

/** Reads the key `Token`; undefined when absent or wrong (which is noted). */
export function readToken(manifest: JsonObject, faults: Faults): TokenWish | undefined {
  const value = manifest['Token'];
  if (value === undefined) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.add('Token', 'must be an object with scope and audience');
    return undefined;
  }
  const { scope: given, audience, ...others } = value;
  for (const key of Object.keys(others)) {
    faults.add(`Token.${key}`, 'is not known: scope and audience are');
  }
  const scope = readScope(given, faults);
  const audiences = readAudience(audience, faults);
  if (scope === undefined) return undefined;
  return { scope, ...(audiences && { audience: audiences }) };
}

function readScope(value: JsonValue | undefined, faults: Faults): string | undefined {
  if (value === undefined) faults.add('Token.scope', 'is missing');
  else if (typeof value !== 'string') faults.add('Token.scope', 'must be a text');
  else {
    const words = value.split(' ').filter((word) => word !== '');
    if (words.length === 0) faults.add('Token.scope', 'is empty');
    else if (words.length <= MAX_SCOPES) return words.join(' ');
    else faults.add('Token.scope', `has more than ${MAX_SCOPES} words`);
  }
  return undefined;
}

function readAudience(value: JsonValue | undefined, faults: Faults): string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? [value] : value;
  if (!isTextList(list)) faults.add('Token.audience', 'must be a text or a list of texts');
  else if (list.length === 0 || list.includes('')) faults.add('Token.audience', 'is empty');
  else return list;
  return undefined;
}
