import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import { isJsonObject, Problem, type JsonValue, type Violation } from '#src/kernel/index.js';
import { QueryValues } from './query-values.js';

/** A class whose validators say what a request may carry. */
export type RequestClass<T extends object = object> = new () => T;

/** How a request class is read, where that differs from what its place in the handler says. */
export interface RequestShape {
  /** Of a body: `json` unless said otherwise. */
  body?: 'json' | 'form';
  /** A body may be missing; the class is then read as if it were empty. */
  isOptional?: boolean;
  /** Bytes of a body; GRID_MAX_BODY unless said otherwise. */
  limitBytes?: number;
  /** Of a form: parameters of the query string count as well (RFC 6749 §3.2 lets clients send either). */
  withQuery?: boolean;
  /** Unknown keys are left out instead of refused (RFC 6749 §3.1: unrecognized parameters are ignored). */
  ignoresUnknown?: boolean;
  /** A parameter without a value counts as left out (RFC 6749 §3.1). */
  emptyIsAbsent?: boolean;
  /** The error of this class instead of Problem 400 with the violations. */
  refuse?: (violations: Violation[]) => Error;
}

const SHAPES = new WeakMap<object, RequestShape>();

/** Says how a request class is read. */
export function Shape(shape: RequestShape): ClassDecorator {
  return (target) => void SHAPES.set(target, shape);
}

/** What `@Shape` says of the class. */
export function shapeOf(requestClass: object): RequestShape {
  return SHAPES.get(requestClass) ?? {};
}

const NO_CLASSES: ReadonlySet<unknown> = new Set([
  Object,
  Array,
  String,
  Number,
  Boolean,
  QueryValues,
]);

/** True for a class that a query or a body is to be read as. */
export function isRequestClass(type: unknown): type is RequestClass {
  return typeof type === 'function' && !NO_CLASSES.has(type);
}

/** The names of the properties that have a validator. */
export function keysOfClass(requestClass: RequestClass): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(requestClass, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))];
}

/**
 * A query or a form as the class: texts are taken as the types of its properties (`boolean`, `number` for whole numbers,
 * `string`, `string[]` for keys that may be repeated), then its validators judge. Throws Problem 400 with every violation;
 * unknown keys are left out here.
 */
export function readValues<T extends object>(
  requestClass: RequestClass<T>,
  values: QueryValues,
): T {
  const { emptyIsAbsent = false } = shapeOf(requestClass);
  const plain: Record<string, unknown> = {};
  const violations: Violation[] = [];
  for (const key of keysOfClass(requestClass)) {
    if (!values.has(key) || (emptyIsAbsent && values.all(key).every((each) => each === '')))
      continue;
    try {
      plain[key] = valueOf(requestClass, key, values);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      violations.push(...(error.violations ?? []));
    }
  }
  return validated(requestClass, plain, violations);
}

function valueOf(requestClass: RequestClass, key: string, values: QueryValues): unknown {
  const type: unknown = Reflect.getMetadata('design:type', requestClass.prototype as object, key);
  if (type === Array) return values.all(key);
  if (type === Boolean) return values.boolean(key);
  if (type === Number) return values.integer(key, undefined, { min: Number.MIN_SAFE_INTEGER });
  return values.single(key);
}

/** A JSON object as the class. Throws Problem 400 with every violation, unknown keys among them. */
export function readJson<T extends object>(requestClass: RequestClass<T>, json: JsonValue): T {
  if (!isJsonObject(json)) {
    throw new Problem('request.malformed-body', 'The body must be a JSON object');
  }
  return validated(requestClass, json, []);
}

function validated<T extends object>(
  requestClass: RequestClass<T>,
  plain: object,
  found: readonly Violation[],
): T {
  const { ignoresUnknown = false, refuse } = shapeOf(requestClass);
  const instance = plainToInstance(requestClass, plain);
  const errors = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: !ignoresUnknown,
    forbidUnknownValues: false,
    stopAtFirstError: true,
  });
  const known = new Set(found.map(({ field }) => field));
  const further = errors
    .flatMap((error) => violationsOf(error))
    .filter(({ field }) => !known.has(field));
  const violations = [...found, ...further];
  if (violations.length > 0) throw refuse?.(violations) ?? Problem.invalid(violations);
  return instance;
}

/** One violation a value, the innermost ones of nested values: `Replicas.SE-A.PFN`. */
function violationsOf(error: ValidationError, within = ''): Violation[] {
  const field = `${within}${error.property}`;
  const inner = (error.children ?? []).flatMap((child) => violationsOf(child, `${field}.`));
  const [rule, message] = Object.entries(error.constraints ?? {})[0] ?? [];
  if (rule === undefined || message === undefined) return inner;
  return [{ field, problem: wordsOf(rule, message, error.value) }, ...inner];
}

function wordsOf(rule: string, message: string, value: unknown): string {
  if (rule === 'whitelistValidation') return 'is not known here';
  return value === undefined ? 'is missing' : message;
}
