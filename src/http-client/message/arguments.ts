/** A parameter that may be given by its place. */
export interface Parameter {
  readonly name: string;
  /** Whether a value, neither null nor undefined, fits here; everything does when absent. */
  readonly accepts?: (value: unknown) => boolean;
}

/** What an operation may be called with: parameters by place, and one trailing object of named ones. */
export interface Operation {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  /** Names that the trailing object may have beside those of the parameters. */
  readonly keywords: ReadonlySet<string>;
  /** Whether the trailing object may have other names as well: form fields, members of a query. */
  readonly open?: boolean;
  /** The error for an argument that fits nowhere; default TypeError. */
  fail?(message: string): Error;
}

/** Every parameter from the first on may be left out at the end, and named members may follow. */
export type CallArguments<P extends readonly unknown[], O> = P extends readonly [
  ...infer Front,
  unknown,
]
  ? [...P, options?: O | null] | CallArguments<Front, O>
  : [options?: O | null];

/** True for `{…}`, from whatever realm; false for instances of classes, lists, and whatever can be iterated. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  if (Symbol.iterator in value || Symbol.asyncIterator in value) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isKnown(operation: Operation, name: string): boolean {
  return operation.keywords.has(name) || operation.parameters.some((it) => it.name === name);
}

/**
 * Whether an object in the last place names parameters instead of being one: it does where the place takes no object;
 * else when all its names are names of the operation, and where any other name may follow, when one of them is.
 */
function namesParameters(
  operation: Operation,
  at: number,
  value: unknown,
): value is Record<string, unknown> {
  const parameter = operation.parameters[at];
  if (parameter === undefined) return value === null || isPlainObject(value);
  if (!isPlainObject(value)) return false;
  if (parameter.accepts !== undefined && !parameter.accepts(value)) return true;
  const names = Object.keys(value);
  // an empty object after the first place is the argument itself: JSON has empty objects
  if (names.length === 0) return at === 0;
  const test = (name: string): boolean => isKnown(operation, name);
  return operation.open === true ? names.some(test) : names.every(test);
}

/**
 * Sorts the arguments of a call by the names of the operation's parameters. Undefined is an argument left out, null one
 * that says "none". Throws for an argument that fits nowhere, for one that is given twice, and for a name that the
 * operation does not have: nothing is dropped.
 */
export function bindArguments(
  operation: Operation,
  given: readonly unknown[],
): Record<string, unknown> {
  const { name, parameters, open } = operation;
  const fail = (message: string): never => {
    const text = `${name}: ${message}`;
    throw operation.fail?.(text) ?? new TypeError(text);
  };
  let count = given.length;
  while (count > 0 && given[count - 1] === undefined) count -= 1;
  if (count === 0) return {};
  const last = given[count - 1];
  const bound = Object.create(null) as Record<string, unknown>;
  if (namesParameters(operation, count - 1, last)) {
    count -= 1;
    for (const [key, value] of Object.entries(last ?? {})) {
      if (open !== true && !isKnown(operation, key)) fail(`there is no parameter "${key}"`);
      bound[key] = value;
    }
  }
  if (count > parameters.length) fail('an argument fits nowhere');
  for (const [at, { name: key }] of parameters.slice(0, count).entries()) {
    const value = given[at];
    const isNamed = bound[key] !== undefined && bound[key] !== null;
    if (value === undefined) continue;
    if (value !== null && isNamed) fail(`"${key}" is given twice`);
    if (!isNamed) bound[key] = value;
  }
  for (const { name: key, accepts } of parameters) {
    const value = bound[key];
    if (value === undefined || value === null) continue;
    if (accepts?.(value) === false) fail(`"${key}" cannot be ${kindOf(value)}`);
  }
  return bound;
}

/** What an argument has to be where no table says it. */
export interface Requirement {
  operation: string;
  name: string;
  fits: boolean;
  /** The error; default TypeError. */
  fail?: (message: string) => Error;
}

/** Throws an error that names the argument unless it fits. */
export function requireArgument(
  value: unknown,
  { operation, name, fits, fail }: Requirement,
): void {
  if (fits) return;
  const text = `${operation}: "${name}" cannot be ${kindOf(value)}`;
  throw fail?.(text) ?? new TypeError(text);
}

/** True for an object that has members by name: no list, no map, nothing else that is iterated. */
export function isDictionary(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(Symbol.iterator in value);
}

/** Throws a TypeError that names the argument unless it is text. */
export function requireText(operation: string, name: string, value: unknown): void {
  requireArgument(value, { operation, name, fits: typeof value === 'string' });
}

/** A word for a value in messages; the value itself may be a secret. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'left out';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'such an object' : `a ${typeof value}`;
}
