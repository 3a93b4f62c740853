import { stringify } from 'yaml';
import { parseJson } from '#src/kernel/index.js';
import { jsonText } from './output.js';

/**
 * YAML of what is shown, by way of JSON: what is unsafe on a terminal is escaped in texts in quotation marks. A module of its own
 * that is loaded when YAML is asked for: from a bundle a package of CommonJS that is loaded so has no names.
 */
export function yamlText(value: unknown): string {
  const plain = parseJson(jsonText(value));
  return stringify(plain, { defaultStringType: 'QUOTE_DOUBLE' }).trimEnd();
}
