import fc from 'fast-check';
import type { ModelCondition } from './model.js';

const USERS = [
  { user: 'alice', group: 'grid_user', isManager: false },
  { user: 'bob', group: 'grid_share', isManager: false },
  { user: 'carol', group: 'grid_user', isManager: false },
  { user: 'fred', group: 'grid_fc', isManager: true },
] as const;

const FIELDS = { i: 'int', j: 'int', f: 'float', s: 'string' } as const;
export const MODEL_FIELDS = Object.entries(FIELDS);

const name = fc.constantFrom('a', 'b', 'c', "d'%~ é");
export const path = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((names) => `/${names.join('/')}`);

const intValue = fc.integer({ min: 0, max: 4 });
const floatValue = fc.constantFrom(0.5, 1.5, 2);
const stringValue = fc.constantFrom('x', 'y', 'z|', "it's");
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(value, { freq: 4 });

const values = fc.record(
  {
    i: optional(intValue),
    j: optional(intValue),
    f: optional(floatValue),
    s: optional(stringValue),
  },
  { requiredKeys: [] },
);

/** One change, in the words of NDJSON. */
export type Change =
  | {
      kind: 'directory';
      op: 'put';
      path: string;
      mode?: number;
      metadata?: Record<string, number | string | null>;
    }
  | { kind: 'file'; op: 'put'; path: string; size: number }
  | { kind: 'file' | 'directory'; op: 'delete'; path: string };

export const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      {
        kind: fc.constant('directory' as const),
        op: fc.constant('put' as const),
        path,
        mode: fc.constantFrom(0o775, 0o755, 0o700, 0o750, 0o730, 0o777),
        metadata: values,
      },
      { requiredKeys: ['kind', 'op', 'path'] },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('file' as const),
      op: fc.constant('put' as const),
      path: fc.tuple(path, fc.constantFrom('f1', 'f2', 'a')).map(([at, file]) => `${at}/${file}`),
      size: fc.constantFrom(0, 1, 10, 2 ** 40),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('file' as const, 'directory' as const),
      op: fc.constant('delete' as const),
      path: fc.oneof(
        path,
        fc.tuple(path, fc.constantFrom('f1', 'f2', 'a')).map(([at, file]) => `${at}/${file}`),
      ),
    }),
  },
);

export const user = fc.constantFrom(...USERS);

const comparison = fc.constantFrom('<', '>', '=', '<=', '>=', '!=' as const);
const condition: fc.Arbitrary<ModelCondition> = fc.oneof(
  fc.record({
    field: fc.constantFrom('i', 'j'),
    operator: comparison,
    operands: fc.tuple(intValue),
  }),
  fc.record({ field: fc.constant('f'), operator: comparison, operands: fc.tuple(floatValue) }),
  fc.record({
    field: fc.constant('s'),
    operator: fc.constantFrom('in', 'nin' as const),
    operands: fc.uniqueArray(stringValue, { minLength: 1, maxLength: 3 }),
  }),
);

export const conditions = fc.array(condition, { maxLength: 3 });
