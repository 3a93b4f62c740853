import { numbersAsTexts, parseJson, type JsonObject } from '#src/kernel/index.js';
import { PARAMETER_KEY } from '../manifest/manifest-keys.js';

/**
 * The manifest of a JSON text with numbers as they are written there where a job gets them as texts: `1.0` stays `1.0` as a
 * value of `Parameters` and as a variable.
 */
export function withWrittenNumbers(manifest: JsonObject, text: string): JsonObject {
  if (!Object.keys(manifest).some(becomesText)) return manifest;
  const written = numbersAsTexts(text);
  if (written === text) return manifest;
  const members = Object.entries(parseJson(written) as JsonObject);
  return { ...manifest, ...Object.fromEntries(members.filter(([key]) => becomesText(key))) };
}

function becomesText(key: string): boolean {
  return key === 'ExecutionEnvironment' || PARAMETER_KEY.test(key);
}
