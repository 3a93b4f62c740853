import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Command } from 'commander';
import { isJsonObject, parseJson, type JsonObject } from '../../kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import { jsonOption, outputOption, present, type Printing } from '../terminal/output-format.js';
import { tell } from '../terminal/output.js';
import type { CliContext } from './context.js';

interface AuditOptions extends Printing {
  event: string[];
  user: string[];
  where: string[];
  outcome?: string;
  since?: string;
  until?: string;
  limit: string;
}

/** Fields that stand in columns of their own, or say nothing to people. */
const SHOWN = new Set(['time', 'event', 'outcome', 'user', 'account', 'group', 'address']);
const HIDDEN = new Set(['channel', 'level', 'pid', 'hostname', 'msg', 'requestId', 'setup']);

/** `gridgate audit`: searches the audit trail, which is lines of the log (docs/audit.md). */
export function auditCommand(context: CliContext): Command {
  return new Command('audit')
    .description('search the audit trail: journalctl -u gridgate -o cat | gridgate audit -')
    .argument(
      '[file...]',
      'files of log lines, - for standard input; what commands have done when left out',
    )
    .option('-e, --event <name>', 'only this event, or all of job.*; may be repeated', collect, [])
    .option('-u, --user <name>', 'only what this user or account did; may be repeated', collect, [])
    .option('--where <key=value>', 'only lines with this field; may be repeated', collect, [])
    .option('--outcome <outcome>', 'done or refused')
    .option('--since <time>', 'from this day or instant on')
    .option('--until <time>', 'before this day or instant')
    .option('-l, --limit <number>', 'at most so many, the last ones', '100')
    .addOption(outputOption())
    .addOption(jsonOption())
    .action(async (files: string[], options: AuditOptions) => {
      if (files.length > 0) return search(files, options);
      const own = join(context.config.homePath, 'logs', 'audit.log');
      tell(`reading ${own}: what commands have done; the service writes to its log`);
      await search([own], options);
    });
}

async function search(files: string[], options: AuditOptions): Promise<void> {
  const isWanted = wishOf(options);
  const limit = limitOf(options.limit);
  let [found, last]: [number, JsonObject[]] = [0, []];
  for (const file of files) {
    for await (const line of linesOf(file)) {
      const record = recordOf(line);
      if (record === undefined || !isWanted(record)) continue;
      found += 1;
      last.push(record);
      if (last.length > 2 * limit) last = last.slice(-limit);
    }
  }
  last = last.slice(-limit);
  await present(options, {
    value: { records: last },
    heading: ['TIME', 'EVENT', 'OUTCOME', 'WHO', 'GROUP', 'ADDRESS', 'WHAT'],
    rows: last.map(rowOf),
    names: last.map((record) => textOf(record['event'])),
  });
  if (found > last.length)
    tell(`${last.length} of ${found} lines, the last ones; --limit shows more`);
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

function wishOf(options: AuditOptions): (record: JsonObject) => boolean {
  const { event, user, outcome } = options;
  const where = options.where.map((word) => {
    const at = word.indexOf('=');
    if (at < 1) throw new CommandError(`--where ${word}: key=value is expected`, 2);
    return [word.slice(0, at), word.slice(at + 1)] as const;
  });
  if (outcome !== undefined && outcome !== 'done' && outcome !== 'refused') {
    throw new CommandError(`--outcome ${outcome}: done or refused is expected`, 2);
  }
  const [since, until] = [timeOf('--since', options.since), timeOf('--until', options.until)];
  const isEvent = (name: string): boolean =>
    event.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  return (record) => {
    const at = Date.parse(textOf(record['time']));
    return (
      (event.length === 0 || isEvent(textOf(record['event']))) &&
      (user.length === 0 || user.includes(whoOf(record))) &&
      (outcome === undefined || record['outcome'] === outcome) &&
      (since === undefined || at >= since) &&
      (until === undefined || at < until) &&
      where.every(([key, value]) => Object.hasOwn(record, key) && holds(record[key], value))
    );
  };
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

function timeOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = Date.parse(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time)) return time;
  throw new CommandError(
    `${option} ${text} is no day or instant such as 2026-11-23 or 2026-11-23T10:00:00Z`,
    2,
  );
}

function limitOf(word: string): number {
  if (/^[1-9]\d{0,5}$/.test(word)) return Number(word);
  throw new CommandError(`--limit ${word} is no number from 1 to 999999`, 2);
}

function whoOf(record: JsonObject): string {
  return textOf(record['user'] ?? record['account']);
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

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}
