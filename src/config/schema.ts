import {
  Ajv,
  type AnySchemaObject,
  type ErrorObject,
  type SchemaValidateFunction,
  type ValidateFunction,
} from 'ajv';

/** Where a value is not as its schema says, and what is wrong there. */
export interface Misfit {
  path: (string | number)[];
  problem: string;
}

/** What is wrong with a value, undefined when nothing is. */
export type Fault = (value: never) => string | undefined;

/** JSON Schema with two keywords more: `fits`, a Fault, and `ifNull`, what stands for null from then on. */
export type Schema = AnySchemaObject;

/** What is said of a value of another kind, of a missing and of an unknown member. */
export interface FaultTexts {
  kinds: Readonly<Record<string, string>>;
  words: (words: string) => string;
  unknown: (known: string) => string;
}

/** Its text is made of the schema and the value, where faults are told: with errors of its own ajv copies all the others each time. */
const fits: SchemaValidateFunction = (fault: Fault, value: unknown): boolean =>
  fault(value as never) === undefined;

const ifNull: SchemaValidateFunction = (empty: object, value, _schema, context): boolean => {
  const { parentData, parentDataProperty } = context as NonNullable<typeof context>;
  if (value === null)
    (parentData as Record<string, unknown>)[parentDataProperty] = structuredClone(empty);
  return true;
};

/** Beside a fault of a branch, or of a name, stands one that only says that there is one. */
const isOwn = ({ keyword, schemaPath }: ErrorObject): boolean =>
  keyword !== 'if' && !schemaPath.endsWith('/propertyNames/fits');

/** All that checks declared input of many members. One compiler: a schema becomes a function once. */
const compiler = new Ajv({
  ...{ allErrors: true, verbose: true, useDefaults: true },
  ...{ strict: false, meta: false, validateSchema: false },
});
compiler.addKeyword({ keyword: 'fits', validate: fits, errors: false });
compiler.addKeyword({ keyword: 'ifNull', validate: ifNull, modifying: true });

/**
 * Checks values by the schema; answers each fault, none for a value that fits, in which defaults then stand. It is compiled
 * with the first value.
 */
export function checkBy(schema: Schema, texts: FaultTexts): (value: unknown) => Misfit[] {
  let check: ValidateFunction | undefined;
  return (value) => {
    check ??= compiler.compile(schema);
    if (check(value)) return [];
    return (check.errors ?? [])
      .filter(isOwn)
      .map((error) => ({ path: pathOf(error, value), problem: problemOf(error, texts) }));
  };
}

function pathOf(error: ErrorObject, root: unknown): (string | number)[] {
  const { instancePath, params } = error;
  const { missingProperty, additionalProperty, propertyName } = params as Record<
    string,
    string | undefined
  >;
  let at = root;
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const isList = Array.isArray(at);
      at = (at as Record<string, unknown>)[key];
      return isList ? Number(key) : key;
    });
  const member = missingProperty ?? additionalProperty ?? propertyName;
  return member === undefined ? path : [...path, member];
}

function problemOf(error: ErrorObject, { kinds, words, unknown }: FaultTexts): string {
  const { keyword, message = '', params, parentSchema = {}, schema, data } = error;
  const { type, properties = {} } = parentSchema as Schema & {
    properties?: Record<string, Schema>;
  };
  switch (keyword) {
    case 'fits':
      return (schema as Fault)(data as never) ?? message;
    case 'additionalProperties':
      return unknown(Object.keys(properties).join(', '));
    case 'required': {
      const { enum: list } =
        properties[(params as { missingProperty: string }).missingProperty] ?? {};
      return Array.isArray(list) ? words(list.join(', ')) : 'is missing';
    }
    case 'enum':
      return words((schema as string[]).join(', '));
    case 'propertyNames':
      return (
        (schema as { fits: Fault }).fits((params as { propertyName: never }).propertyName) ??
        message
      );
    case 'type':
      return kinds[[type].flat()[0] as string] ?? message;
    default:
      return message;
  }
}
