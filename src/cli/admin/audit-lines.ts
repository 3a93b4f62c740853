import type { JsonObject } from '../../kernel/index.js';
import { present, type Printing } from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';

/** Lines of the trail, oldest first; `more` says to people that there are others. */
export interface FoundLines {
  records: JsonObject[];
  more: string | undefined;
}

/** Fields that stand in columns of their own, or say nothing to people. */
const SHOWN = new Set(['time', 'event', 'outcome', 'user', 'account', 'group', 'address']);
const HIDDEN = new Set(['channel', 'level', 'pid', 'hostname', 'msg', 'requestId', 'setup', 'id']);

/** Prints lines as they were asked for. */
export async function presentLines(
  options: Printing,
  { records, more }: FoundLines,
): Promise<void> {
  await present(options, {
    value: { records },
    heading: ['TIME', 'EVENT', 'OUTCOME', 'WHO', 'GROUP', 'ADDRESS', 'WHAT'],
    rows: records.map(rowOf),
    names: records.map((record) => textOf(record['event'])),
  });
  if (more !== undefined) tell(more);
}

/** Who did it: a user, or the account that ran a command. */
function whoOf(record: JsonObject): string {
  return textOf(record['user'] ?? record['account']);
}

/** A value as text. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function rowOf(record: JsonObject): string[] {
  const details = Object.entries(record)
    .filter(([name]) => !SHOWN.has(name) && !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${textOf(value)}`);
  const { time, event, outcome, group, address } = record;
  return [
    ...[textOf(time), textOf(event), textOf(outcome), whoOf(record)],
    ...[textOf(group), textOf(address), details.join(' ')],
  ];
}
