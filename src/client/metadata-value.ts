import { parseJson } from '#src/kernel/json.js';
import type { MetadataValues } from './generated/schemas.js';

const QUOTED_OR_BRACKETED = /^["[{]/;

/**
 * The value that somebody means who has written a text for a field of metadata. It stays a text: the service reads that of
 * a declared field by its type, and of other keys `4.10`, `0123` and `true` are kept as they are. Only JSON in quotation
 * marks or brackets is what it is.
 */
export function metadataValue(text: string): MetadataValues[string] {
  if (!QUOTED_OR_BRACKETED.test(text)) return text;
  try {
    return parseJson(text) as MetadataValues[string];
  } catch {
    return text;
  }
}
