import { ApiExtension } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { Allow, getMetadataStorage, validateSync, type ValidationError } from 'class-validator';
import {
  isJsonObject,
  Problem,
  type JsonObject,
  type JsonValue,
  type Violation,
} from '#src/kernel/index.js';
import { IS_GIVEN } from './validators.js';
import { QueryValues, unknownParameters } from './messages.js';

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
  /** Every parameter stands once, also unknown and empty ones (RFC 6749 §3.1: included no more than once). */
  once?: boolean;
  /** Of `once`: parameters that may be repeated nevertheless (RFC 8707 §2). */
  repeatable?: readonly string[];
  /** The class that judges instead of this one, by what the request says. */
  choose?: (values: QueryValues) => RequestClass;
  /** The error of this class instead of Problem 400 with the violations. */
  refuse?: (violations: Violation[]) => Error;
}

/** Mark the schema of a class until the OpenAPI document is complete: a JSON body that may be missing, a form, one that may have further members. */
export const OPTIONAL_BODY = 'x-optional-body';
export const FORM_BODY = 'x-form-body';
export const OPEN_BODY = 'x-open-body';

const SHAPES = new WeakMap<object, RequestShape>();

/** Says how a request class is read. */
export function Shape(shape: RequestShape): ClassDecorator {
  return (target) => {
    SHAPES.set(target, shape);
    if (shape.body === 'form') ApiExtension(FORM_BODY, true)(target);
    if (shape.isOptional) ApiExtension(OPTIONAL_BODY, true)(target);
    if (shape.ignoresUnknown) ApiExtension(OPEN_BODY, true)(target);
  };
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

/** Makes the value of a property of what was sent. Throws Problem 400. */
interface Reader {
  /** In a query: of all texts of the key instead of the one that it may have. */
  ofAll: boolean;
  read: (sent: never, key: string) => unknown;
}

/** How a property gathers the keys that are the caller's choice. */
export interface FreeKeysRule {
  /** True for what belongs here: in a query each value of a key is asked about by itself. */
  takes(key: string, value: JsonValue): boolean;
  /** The value of the property: of the texts in a query or form, or of a JSON object. Throws Problem 400. */
  read(gathered: QueryValues | JsonObject): unknown;
  /** Is told with keys that belong nowhere. */
  hint?: string;
}

/** What is known of a class: found once. */
interface Plan {
  /** The keys of its properties. */
  keys: ReadonlySet<string>;
  readers: ReadonlyMap<string, Reader>;
  free: (FreeKeysRule & { property: string }) | undefined;
  /** Types of the properties, for texts. */
  types: ReadonlyMap<string, unknown>;
  /** Properties of which is asked only that they are a text or, where the value is true, several. */
  texts: ReadonlyMap<string, boolean>;
  /** Properties of which anything is asked where they are given. */
  judged: ReadonlySet<string>;
  /** Of them those that may not be missing. */
  needed: readonly string[];
}

const READERS = new WeakMap<object, Map<string, Reader>>();
const FREE = new WeakMap<object, FreeKeysRule & { property: string }>();
const PLANS = new WeakMap<RequestClass, Plan>();

/** The property is what the function makes of the JSON value, in a query of the one text that its key may have. */
export function ReadBy<V extends string | JsonValue>(
  read: (value: V, key: string) => unknown,
): PropertyDecorator {
  return reads({ ofAll: false, read });
}

/** The property is what the function makes of all texts of its key in a query. */
export function ReadAllBy(read: (texts: string[], key: string) => unknown): PropertyDecorator {
  return reads({ ofAll: true, read });
}

function reads(reader: Reader): PropertyDecorator {
  return (prototype, property) => {
    const readers = READERS.get(prototype) ?? new Map<string, Reader>();
    READERS.set(prototype, readers.set(String(property), reader));
    Allow()(prototype, property);
  };
}

/** The property is what is made of the keys that the rule takes, whatever other properties there are; its own name is no key. */
export function FreeKeys(rule: FreeKeysRule): PropertyDecorator {
  return (prototype, property) => {
    FREE.set(prototype, { ...rule, property: String(property) });
    Allow()(prototype, property);
  };
}

function planOf(requestClass: RequestClass): Plan {
  const known = PLANS.get(requestClass);
  if (known) return known;
  const readers = new Map<string, Reader>();
  let free: Plan['free'];
  const { prototype } = requestClass as { prototype: object };
  for (let own: object | null = prototype; own; own = Object.getPrototypeOf(own) as object | null) {
    for (const [key, reader] of READERS.get(own) ?? []) readers.set(key, reader);
    free ??= FREE.get(own);
  }
  const rules = getMetadataStorage().getTargetValidationMetadatas(requestClass, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  if (free) names.delete(free.property);
  const typeOf = (key: string): unknown => Reflect.getMetadata('design:type', prototype, key);
  const types = new Map([...names].map((key) => [key, typeOf(key)]));
  const plan = { keys: names, readers, free, types, ...plainRules(rules) };
  PLANS.set(requestClass, plan);
  return plan;
}

type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[0];

/** What the validators of a class say, as far as that is to be a text and to be there. */
function plainRules(rules: readonly Rule[]): Pick<Plan, 'texts' | 'judged' | 'needed'> {
  const texts = new Map<string, boolean>();
  const further = new Set<string>();
  const optional = new Set<string>();
  for (const { propertyName: key, type, name, constraints, each = false } of rules) {
    if (type === 'whitelistValidation') continue;
    if (type === 'conditionalValidation' && constraints?.[0] === IS_GIVEN) optional.add(key);
    else if (name === 'isString') texts.set(key, each);
    else further.add(key);
  }
  for (const key of further) texts.delete(key);
  const judged = new Set([...texts.keys(), ...further]);
  return { texts, judged, needed: [...judged].filter((key) => !optional.has(key)) };
}

/** True when nothing is missing and everything that was sent is a text, or several, of which no more is asked. */
function isPlainlyRight({ texts, judged, needed }: Plan, plain: Values, read: Values): boolean {
  const { made } = plain;
  const isText = (value: unknown): boolean => typeof value === 'string';
  return (
    plain.violations.length + read.violations.length === 0 &&
    needed.every((key) => Object.hasOwn(made, key)) &&
    Object.keys(read.made).every((key) => !judged.has(key)) &&
    Object.entries(made).every(([key, value]) =>
      texts.get(key) === true
        ? Array.isArray(value) && value.every(isText)
        : texts.has(key) && isText(value),
    )
  );
}

/** The names of the properties that have a validator: the keys that requests may have. */
export function keysOfClass(requestClass: RequestClass): string[] {
  return [...planOf(requestClass).keys];
}

/** Refuses what none of the classes knows, but `access_token`, which the guard has read. Throws Problem 400. */
export function refuseUnknown(
  values: QueryValues,
  requestClasses: readonly RequestClass[],
  kind?: string,
): void {
  const plans = requestClasses.map(planOf);
  const isKnown = (key: string): boolean =>
    key === 'access_token' ||
    plans.some(
      ({ keys, free }) =>
        keys.has(key) || (free && values.all(key).every((value) => free.takes(key, value))),
    );
  const unknown = values.keys().filter((key) => !isKnown(key));
  const hint = plans.find(({ free }) => free)?.free?.hint;
  if (unknown.length > 0) throw unknownParameters(unknown, { kind, hint });
}

/** Values made one by one, and what was wrong with those that could not be. */
class Values {
  readonly made: Record<string, unknown> = {};
  readonly violations: Violation[] = [];

  /** Notes the faults that `work` throws as violations. */
  note(key: string, work: () => unknown): void {
    try {
      this.made[key] = work();
    } catch (error) {
      if (!(error instanceof Problem) || !error.violations?.length) throw error;
      this.violations.push(...error.violations);
    }
  }
}

/** A query as the class, like the pipe reads it; unknown keys are refused. Throws Problem 400. */
export function readQuery<T extends object>(requestClass: RequestClass<T>, values: QueryValues): T {
  refuseUnknown(values, [requestClass]);
  return readValues(requestClass, values);
}

/**
 * A query or a form as the class: texts are taken as the types of its properties (`boolean`, `number` for whole numbers,
 * `string`, `string[]` for keys that may be repeated) or as their readers make them, then its validators judge. Throws
 * Problem 400 with every violation; unknown keys are left out here.
 */
export function readValues<T extends object>(requestClass: RequestClass<T>, sent: QueryValues): T {
  const shape = shapeOf(requestClass);
  const { emptyIsAbsent = false, choose } = shape;
  if (shape.once) refuseRepeated(sent, shape);
  const chosen = choose?.(sent) as RequestClass<T> | undefined;
  if (chosen) return readValues(chosen, sent);
  const plan = planOf(requestClass);
  const { keys, readers, free, types } = plan;
  const [gathered, values] = free
    ? sent.split((key, value) => free.takes(key, value))
    : [sent, sent];
  const plain = new Values();
  const read = new Values();
  for (const key of keys) {
    const [value, ...more] = values.all(key);
    if (value === undefined || (emptyIsAbsent && value === '' && more.length === 0)) continue;
    const reader = readers.get(key);
    if (reader) read.note(key, () => textsBy(reader, key, values));
    else plain.note(key, () => valueOf(types.get(key), key, values));
  }
  if (free) read.note(free.property, () => free.read(gathered));
  // Most queries and forms are such, and the validators take several times as long to find that out.
  if (isPlainlyRight(plan, plain, read)) {
    return Object.assign(new requestClass(), plain.made, read.made);
  }
  return validated(requestClass, plain, read);
}

function refuseRepeated(values: QueryValues, { refuse, repeatable = [] }: RequestShape): void {
  const repeated = values
    .keys()
    .filter((key) => values.all(key).length > 1 && !repeatable.includes(key));
  const problem = 'may be given only once';
  if (repeated.length > 0)
    throw refused(
      repeated.map((field) => ({ field, problem })),
      refuse,
    );
}

function textsBy({ ofAll, read }: Reader, key: string, values: QueryValues): unknown {
  return read((ofAll ? values.all(key) : values.single(key)) as never, key);
}

function valueOf(type: unknown, key: string, values: QueryValues): unknown {
  if (type === Array) return values.all(key);
  if (type === Boolean) return values.boolean(key);
  if (type === Number) return values.integer(key, undefined, { min: -Infinity, clamp: true });
  return values.single(key);
}

/** A JSON object as the class. Throws Problem 400 with every violation, unknown keys among them. */
export function readJson<T extends object>(requestClass: RequestClass<T>, json: JsonValue): T {
  if (!isJsonObject(json)) {
    throw new Problem('request.malformed-body', 'The body must be a JSON object');
  }
  const { ignoresUnknown = false } = shapeOf(requestClass);
  const { keys, readers, free } = planOf(requestClass);
  const plain = new Values();
  const read = new Values();
  const gathered: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(json)) {
    const reader = readers.get(key);
    if (free?.takes(key, value)) gathered.push([key, value]);
    else if (reader) read.note(key, () => reader.read(value as never, key));
    else if (keys.has(key)) plain.made[key] = value;
    else if (!ignoresUnknown) plain.violations.push({ field: key, problem: UNKNOWN });
  }
  if (free) read.note(free.property, () => free.read(Object.fromEntries(gathered)));
  return validated(requestClass, plain, read);
}

const UNKNOWN = 'is not known here';

/** What readers have made is taken as it is; the rest is judged by the validators. */
function validated<T extends object>(
  requestClass: RequestClass<T>,
  plain: Values,
  read: Values,
): T {
  const { ignoresUnknown = false, refuse } = shapeOf(requestClass);
  const instance = plainToInstance(requestClass, plain.made);
  Object.assign(instance, read.made);
  const found = [...plain.violations, ...read.violations];
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
  if (violations.length > 0) throw refused(violations, refuse);
  return instance;
}

function refused(violations: Violation[], refuse: RequestShape['refuse']): Error {
  return refuse?.(violations) ?? Problem.invalid(violations);
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
  if (rule === 'whitelistValidation') return UNKNOWN;
  return value === undefined ? 'is missing' : message;
}
