import { Problem } from '#src/kernel/index.js';
import { QueryValues, readQuery, type RequestClass } from '#src/http/index.js';
import type { JsonRecord } from '../store/webhook.entity.js';

/**
 * A filter as the query class that the same filter has in a URL: `{"status": ["Done", "Failed"], "allOwners": true}` is
 * `status=Done&status=Failed&allOwners=true`. Throws Problem 400 that names `filter.<key>`.
 */
export function readFilter<T extends object>(requestClass: RequestClass<T>, filter: JsonRecord): T {
  const pairs = new URLSearchParams();
  for (const [key, value] of Object.entries(filter) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (!['string', 'number', 'boolean', 'bigint'].includes(typeof one)) {
        throw Problem.invalidField(
          `filter.${key}`,
          'is not a text, number, boolean or list of them',
        );
      }
      pairs.append(key, String(one));
    }
  }
  try {
    return readQuery(requestClass, new QueryValues(pairs.toString()));
  } catch (error) {
    if (!(error instanceof Problem) || !error.violations) throw error;
    throw Problem.invalid(
      error.violations.map(({ field, problem }) => ({ field: `filter.${field}`, problem })),
    );
  }
}
