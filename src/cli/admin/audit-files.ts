import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { isJsonObject, parseJson, type JsonObject } from '../../kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { AuditWish } from './audit-options.js';
import { textOf, whoOf, type FoundLines } from './audit-lines.js';

/** The last of the lines in files of the log that are wanted. Throws CommandError for a file that cannot be read. */
export async function searchFiles(files: readonly string[], wish: AuditWish): Promise<FoundLines> {
  const { limit } = wish;
  let [found, last]: [number, JsonObject[]] = [0, []];
  for (const file of files) {
    for await (const line of linesOf(file)) {
      const record = recordOf(line);
      if (record === undefined || !isWanted(record, wish)) continue;
      found += 1;
      last.push(record);
      if (last.length > 2 * limit) last = last.slice(-limit);
    }
  }
  last = last.slice(-limit);
  const more = `${last.length} of ${found} lines, the last ones; --limit shows more`;
  return { records: last, more: found > last.length ? more : undefined };
}

async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    if (file === '-') yield* createInterface({ input: process.stdin });
    else yield* (await open(file)).readLines();
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new CommandError(`${file} cannot be read (${code})`, 2);
  }
}

/** The line as a record of the audit trail; what collectors of logs put before it is left out. */
function recordOf(line: string): JsonObject | undefined {
  if (!line.includes('"channel":"audit"')) return undefined;
  try {
    const value = parseJson(line.slice(line.indexOf('{')));
    return isJsonObject(value) && value['channel'] === 'audit' ? value : undefined;
  } catch {
    return undefined; // cut off, or not of the service
  }
}

function isWanted(record: JsonObject, wish: AuditWish): boolean {
  const { events, users, where, outcome, since, until } = wish;
  const isEvent = (name: string): boolean =>
    events.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  const at = Date.parse(textOf(record['time']));
  return (
    (events.length === 0 || isEvent(textOf(record['event']))) &&
    (users.length === 0 || users.includes(whoOf(record))) &&
    (outcome === undefined || record['outcome'] === outcome) &&
    (since === undefined || at >= since.getTime()) &&
    (until === undefined || at < until.getTime()) &&
    where.every(([key, value]) => Object.hasOwn(record, key) && holds(record[key], value))
  );
}

/** `jids=7` finds 7 alone and in `10-12` what is between. */
function holds(member: unknown, wanted: string): boolean {
  return [member].flat().some((one) => {
    const text = textOf(one);
    const [, from, to] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
    if (from === undefined || !/^\d{1,15}$/.test(wanted)) return text === wanted;
    return Number(from) <= Number(wanted) && Number(wanted) <= Number(to);
  });
}
