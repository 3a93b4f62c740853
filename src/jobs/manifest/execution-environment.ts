import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import { TOKEN_FILE_VARIABLE, wantsToken } from './job-token.js';
import { isTextList, type Faults } from './manifest-values.js';
import { pointerTo, type ManifestWarning } from './manifest-warning.js';

/** What in a value looks like one more variable. */
const OTHER_VARIABLE = /[\s,;]([A-Za-z_]\w*)=/;

/** Checks the names of the variables, and warns of one text that looks like several variables. */
export function checkEnvironment(
  manifest: JsonObject,
  { faults, warnings }: { faults: Faults; warnings: ManifestWarning[] },
): void {
  const { ExecutionEnvironment: value } = manifest;
  if (value === undefined) return;
  const names = environmentOf(value);
  if (names === undefined) {
    faults.add('ExecutionEnvironment', 'must be an object, or a list of texts NAME=value');
    return;
  }
  const [variable] = typeof value === 'string' ? Object.entries(names) : [];
  const [, other] = OTHER_VARIABLE.exec(variable?.[1] ?? '') ?? [];
  if (other !== undefined) {
    const detail = `The text is the one variable ${variable?.[0]}, and ${other} is part of its value; for several give a list of texts NAME=value, or an object`;
    warnings.push({
      code: 'manifest.one-variable',
      detail,
      pointer: pointerTo('ExecutionEnvironment'),
    });
  }
  for (const name of Object.keys(names)) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      faults.add('ExecutionEnvironment', `${name}: is not the name of a variable`);
    } else if (
      name.startsWith('GRIDGATE_') ||
      (name === TOKEN_FILE_VARIABLE && wantsToken(manifest))
    ) {
      faults.add('ExecutionEnvironment', `${name}: is set by the service`);
    }
  }
}

/** Variables of `ExecutionEnvironment`; undefined when it is neither an object of texts nor a list `NAME=value`. */
export function environmentOf(value: JsonValue): Record<string, string> | undefined {
  const list = typeof value === 'string' ? [value] : value;
  if (isTextList(list)) {
    if (!list.every((item) => item.includes('='))) return undefined;
    return Object.fromEntries(
      list.map((item) => [item.slice(0, item.indexOf('=')), item.slice(item.indexOf('=') + 1)]),
    );
  }
  if (typeof list !== 'object' || list === null || Array.isArray(list)) return undefined;
  const isPlain = Object.values(list).every((item) => typeof item !== 'object');
  if (!isPlain) return undefined;
  return Object.fromEntries(
    Object.entries(list).map(([name, item]) => [name, String(item as string)]),
  );
}
