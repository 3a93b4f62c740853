import * as fc from 'fast-check';
import type { ApiDocument, Schema } from './document.js';

const DEEPEST = 4;

/** Texts that have broken other services. */
const NASTY = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u202e',
  '\ud800',
  '%00',
  '%ff',
  '../../etc/passwd',
  "' or 1=1 --",
  '<script>alert(1)</script>',
  '${jndi:ldap://x}',
  '{{7*7}}',
  '-1',
  '1e999',
  'NaN',
  '99999999999999999999',
  '9223372036854775807',
  '9223372036854775808',
  'null',
  'true',
  '[]',
  '{}',
  '__proto__',
  'constructor',
  'a'.repeat(3_000),
  '💥'.repeat(40),
  'line\r\nX-Injected: yes',
];

/** Any text. */
export const text = (): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
    { weight: 1, arbitrary: fc.string({ maxLength: 20, unit: 'binary' }) },
    { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  );

/** Any JSON value, numbers at their edges included. */
export const anything = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    text(),
    fc.integer(),
    fc.constantFrom(0, -0, 0.5, -1, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308),
    fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { a: { b: [{}] } }),
    fc.array(text(), { maxLength: 3 }),
  );

/** Values by schema: mostly valid ones, at times one that is not. */
export class Values {
  constructor(private readonly document: ApiDocument) {}

  /** A value that the schema allows, as far as types, enums, bounds and members say. */
  of(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
    const resolved = this.resolve(schema);
    const plain = this.byType(resolved, depth);
    const examples = [resolved['example'], schema['example']].filter((one) => one !== undefined);
    return examples.length === 0 ? plain : fc.oneof(plain, fc.constantFrom(...examples));
  }

  /** The same with one member replaced, left out or added. */
  spoiled(schema: Schema): fc.Arbitrary<unknown> {
    return fc
      .tuple(
        this.of(schema),
        fc.nat(),
        anything(),
        fc.constantFrom('replace', 'remove', 'add'),
        text(),
      )
      .map(([value, pick, other, how, name]) => {
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return other;
        const copy = { ...(value as Record<string, unknown>) };
        const keys = Object.keys(copy);
        const key = keys[pick % Math.max(1, keys.length)] ?? name;
        if (how === 'remove') delete copy[key];
        else copy[how === 'add' ? name : key] = other;
        return copy;
      });
  }

  private resolve(schema: Schema): Schema {
    const name = (schema['$ref'] as string | undefined)?.split('/').at(-1);
    return name === undefined ? schema : this.resolve(this.document.schemas[name] ?? {});
  }

  private byType(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const union = (schema['oneOf'] ?? schema['anyOf']) as Schema[] | undefined;
    if (union) return fc.oneof(...union.map((one) => this.of(one, depth + 1)));
    if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]));
    const type = schema['type'] as string | string[] | undefined;
    if (Array.isArray(type)) {
      return fc.oneof(...type.map((one) => this.byType({ ...schema, type: one }, depth)));
    }
    if (type === 'integer' || type === 'number') return number(schema);
    if (type === 'boolean') return fc.boolean();
    if (type === 'null') return fc.constant(null);
    if (type === 'array') return this.list(schema, depth);
    if (type === 'object') return this.object(schema, depth);
    return fc.oneof(fc.string({ maxLength: 20 }), text());
  }

  private list(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    if (depth > DEEPEST) return fc.constant([]);
    return fc.array(this.of((schema['items'] ?? {}) as Schema, depth + 1), { maxLength: 3 });
  }

  private object(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
    if (depth > DEEPEST) return fc.constant({});
    const record = fc.record(
      Object.fromEntries(properties.map(([name, inner]) => [name, this.of(inner, depth + 1)])),
      { requiredKeys: (schema['required'] ?? []) as string[] },
    );
    const more = schema['additionalProperties'] as Schema | boolean | undefined;
    if (more === undefined || typeof more === 'boolean') return record;
    const rest = fc.dictionary(text(), this.of(more, depth + 1), { maxKeys: 3 });
    return fc.tuple(rest, record).map(([added, own]) => ({ ...added, ...(own as object) }));
  }
}

function number(schema: Schema): fc.Arbitrary<number> {
  const min = (schema['minimum'] as number | undefined) ?? -1_000;
  const max = (schema['maximum'] as number | undefined) ?? Math.max(min, 0) + 100_000;
  const whole = fc.integer({ min, max });
  return schema['type'] === 'integer'
    ? whole
    : fc.oneof(whole, fc.double({ min, max, noNaN: true }));
}
