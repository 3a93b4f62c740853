import {
  isJsonObject,
  numbersAsTexts,
  parseJson,
  stringifyJson,
  type JsonValue,
} from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';

const PLACE = /\{\{([A-Za-z_]\w{0,63})\}\}/g;

/** The values of `--set name=value`. Throws CommandError. */
export function settingsOf(words: string[]): Map<string, string> {
  return new Map(
    words.map((word) => {
      const [, name = '', value = ''] = /^([A-Za-z_]\w{0,63})=(.*)$/s.exec(word) ?? [];
      if (name === '') throw new CommandError(`--set ${word} is not name=value`, 2);
      return [name, value];
    }),
  );
}

/**
 * The manifest with `{{name}}` replaced in all of its texts. A text that is nothing else becomes the number, truth value or list
 * that the value is as JSON, a number only where it is written the same way again (`4.10` and `1e3` are texts, also in a list);
 * a value never adds a key. Names of places that are left are collected.
 */
export function filled(
  value: JsonValue,
  settings: Map<string, string>,
  left: Set<string>,
): JsonValue {
  if (typeof value === 'string') return filledText(value, settings, left);
  if (Array.isArray(value)) return value.map((item) => filled(item, settings, left));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, filled(item, settings, left)]),
  );
}

function filledText(text: string, settings: Map<string, string>, left: Set<string>): JsonValue {
  const [, only] = /^\{\{([A-Za-z_]\w{0,63})\}\}$/.exec(text) ?? [];
  const alone = only === undefined ? undefined : settings.get(only);
  if (alone !== undefined) return valueOf(alone);
  return text.replace(PLACE, (place, name: string) => {
    const value = settings.get(name);
    if (value === undefined) left.add(name);
    return value ?? place;
  });
}

function valueOf(text: string): JsonValue {
  if (!/^(?:-?\d|true$|false$|\[)/.test(text)) return text;
  try {
    const value = parseJson(text.startsWith('[') ? numbersAsTexts(text) : text);
    return typeof value !== 'number' || stringifyJson(value) === text ? value : text;
  } catch {
    return text;
  }
}

/** Names of the places in a manifest. */
export function placesOf(value: JsonValue): Set<string> {
  const left = new Set<string>();
  filled(value, new Map(), left);
  return left;
}
