import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import type { Faults } from './manifest-values.js';

/** How another job has to end: well, badly (Failed, Killed or Deleted), or in any way. */
export const CONDITION_WORDS = ['done', 'failed', 'end'] as const;

/** What of its end a job waits for. */
export type ConditionWord = (typeof CONDITION_WORDS)[number];

/** One job that a job waits for: one that there is, or one of the same request by its label. */
export type JobCondition = { on: ConditionWord; field: string } & (
  { jid: number | bigint; label?: undefined } | { label: string; jid?: undefined }
);

/** Conditions of one job. */
export const MAX_CONDITIONS = 1_000;
const MAX_LABEL = 128;
const MAX_JID = 2n ** 63n - 1n;

/** Reads the key `Label`; undefined when absent or wrong (which is noted). */
export function readJobLabel(manifest: JsonObject, faults: Faults): string | undefined {
  const value = manifest['Label'];
  return value === undefined ? undefined : labelOf(value, 'Label', faults);
}

/** Reads the key `After`; without what is wrong with it (which is noted). */
export function readConditions(manifest: JsonObject, faults: Faults): JobCondition[] {
  const value = manifest['After'];
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    faults.add('After', 'must be a list of objects with jid or label, and on');
    return [];
  }
  if (value.length > MAX_CONDITIONS) {
    faults.add('After', `has more than ${MAX_CONDITIONS} conditions`);
    return [];
  }
  return value.flatMap((item, index) => readCondition(item, `After[${index}]`, faults) ?? []);
}

function readCondition(value: JsonValue, field: string, faults: Faults): JobCondition | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    faults.add(field, 'must be an object with jid or label, and on');
    return undefined;
  }
  const { jid, label, on: given, ...others } = value;
  const before = faults.list.length;
  for (const key of Object.keys(others)) {
    faults.add(`${field}.${key}`, 'is not known: jid, label and on are');
  }
  const on = CONDITION_WORDS.find((word) => word === (given ?? 'done'));
  if (on === undefined || given === null) {
    faults.add(`${field}.on`, `must be one of ${CONDITION_WORDS.join(', ')}`);
  }
  if ((jid === undefined) === (label === undefined)) {
    faults.add(field, 'must have either jid or label');
    return undefined;
  }
  const name = label === undefined ? undefined : labelOf(label, `${field}.label`, faults);
  if (jid !== undefined && !isJid(jid)) faults.add(`${field}.jid`, 'is not a job id');
  if (faults.list.length > before || on === undefined) return undefined;
  if (name !== undefined) return { label: name, on, field };
  return { jid: jid as number | bigint, on, field };
}

function isJid(value: JsonValue): boolean {
  if (typeof value === 'bigint') return value > 0n && value <= MAX_JID;
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function labelOf(value: JsonValue, field: string, faults: Faults): string | undefined {
  if (typeof value !== 'string') faults.add(field, 'must be a text');
  else if (value === '') faults.add(field, 'is empty');
  else if (value.length > MAX_LABEL) faults.add(field, `is longer than ${MAX_LABEL} characters`);
  else return value;
  return undefined;
}
