import type { QueryValues } from '#src/platform/index.js';
import type { ValuesWanted } from './compatible-values.repository.js';
import { splitQuery, type RawCondition } from '../metadata/metadata-condition.js';

/** Reads conditions, `maxValues` and `counts`. Throws Problem 400 for anything else. */
export function readValuesQuery(
  query: QueryValues,
): ValuesWanted & { conditions: readonly RawCondition[] } {
  const { controls, conditions } = splitQuery(query, ['maxValues', 'counts']);
  return {
    conditions,
    maxValues: controls.integer('maxValues', undefined, { min: 1, clamp: true }),
    counts: controls.boolean('counts'),
  };
}
