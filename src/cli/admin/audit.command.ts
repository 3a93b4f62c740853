import {
  Audit,
  AuditEventsRepository,
  auditEventsOf,
  type AuditEventEntity,
} from '#src/audit/index.js';
import { stringifyJson, type JsonObject } from '../../kernel/index.js';
import type { OptionsOf } from '../terminal/command.js';
import { CommandError } from '../terminal/command-error.js';
import { listOf, textOf, type Shown } from '../terminal/output-format.js';
import { given, limitOf, pairOf } from '../terminal/reading.js';
import { onService, type CliContext } from './context.js';

const PAGE = 1_000;
const OPTIONS = [
  ['-e, --event <name>', 'only this event, or all of job.*', { repeated: true }],
  ['-u, --user <name>', 'only what this user or account did', { repeated: true }],
  ['--where <key=value>', 'only lines with this field', { repeated: true }],
  ['--outcome <outcome>', 'done or refused'],
  ['--since <time>', 'from this day or instant on', { parse: timeOf('--since') }],
  ['--until <time>', 'before this day or instant', { parse: timeOf('--until') }],
  [
    '-l, --limit <number>',
    'at most so many, the last ones',
    { parse: limitOf(999_999), default: 100 },
  ],
] as const;
type AuditOptions = OptionsOf<typeof OPTIONS>;

/** `gridgate admin audit`: searches the audit trail of the database (docs/audit.md). */
export const auditCommand = onService('audit', 'search the audit trail of all instances', {
  options: OPTIONS,
  show: search,
});

/** The last of the lines of all instances that are wanted, oldest first. The search is in the trail itself. */
async function search(service: CliContext, options: AuditOptions): Promise<Shown> {
  const { event, user, outcome, since, until, limit } = options;
  if (outcome !== undefined && outcome !== 'done' && outcome !== 'refused') {
    throw new CommandError(`--outcome ${outcome} is none`, 2, 'give done or refused');
  }
  const unknown = event.find((word) => auditEventsOf(word).length === 0);
  if (unknown !== undefined) throw new CommandError(`--event ${unknown} is no event`, 2);
  const where = options.where.map((word) => pairOf(word, '--where '));
  const lines = await newest(await service.get(AuditEventsRepository), limit, {
    events: event.length > 0 ? [...new Set(event.flatMap(auditEventsOf))] : undefined,
    users: user.length > 0 ? user : undefined,
    ...{ where, outcome, since, until },
  });
  const records = lines.slice(0, limit).map(recordOf).reverse();
  const filters = { event, user, where: options.where, ...given({ outcome, since, until }) };
  (await service.get(Audit)).done('audit.read', { filters, events: records.length });
  const more = `the last ${records.length} lines; --limit shows more`;
  const isLogged = service.config.auditRetention === 0;
  return {
    ...listed(records),
    notes: [
      ...(lines.length > records.length ? [more] : []),
      ...(isLogged ? ['GRID_AUDIT_RETENTION is 0: lines are in the log only'] : []),
    ],
  };
}

/** One line more than is asked for, when there is one. */
async function newest(
  trail: AuditEventsRepository,
  limit: number,
  wanted: Omit<Parameters<AuditEventsRepository['find']>[0], 'before' | 'limit'>,
): Promise<AuditEventEntity[]> {
  const lines: AuditEventEntity[] = [];
  for (;;) {
    const most = Math.min(PAGE, limit + 1 - lines.length);
    const page = await trail.find({ ...wanted, before: lines.at(-1)?.id, limit: most });
    lines.push(...page);
    if (page.length < most || lines.length > limit) return lines;
  }
}

function timeOf(option: string): (word: string) => Date {
  return (word) => {
    const time = new Date(word);
    if (/^\d{4}-\d\d-\d\d/.test(word) && !Number.isNaN(time.getTime())) return time;
    const hint = 'give one such as 2026-11-23 or 2026-11-23T10:00:00Z';
    throw new CommandError(`${option} ${word} is no day or instant`, 2, hint);
  };
}

function recordOf(line: AuditEventEntity): JsonObject {
  const { id, time, instance, event, outcome, user, group, client, details } = line;
  return {
    time: time.toISOString(),
    event,
    outcome,
    ...(user !== null && { user }),
    ...(group !== null && { group }),
    ...(client !== null && { client }),
    ...details,
    instance,
    id,
  };
}

/** Fields that stand in columns of their own, or say nothing to people. */
const SHOWN = ['time', 'event', 'outcome', 'user', 'account', 'group', 'address'];
const ELSEWHERE = new Set([...SHOWN, 'requestId', 'setup', 'id']);

function listed(records: JsonObject[]): Shown {
  const shown = listOf({ records }, records, {
    TIME: 'time',
    EVENT: 'event',
    OUTCOME: 'outcome',
    // a user, or the account that ran a command
    WHO: ({ user, account }) => user ?? account,
    GROUP: 'group',
    ADDRESS: 'address',
    WHAT: detailsOf,
  });
  return { ...shown, names: records.map(({ event }) => textOf(event)) };
}

function detailsOf(record: JsonObject): string {
  return Object.entries(record)
    .filter(([name]) => !ELSEWHERE.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : stringifyJson(value)}`)
    .join(' ');
}
