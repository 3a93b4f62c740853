import {
  Audit,
  AuditEventsRepository,
  auditEventsOf,
  type AuditEventEntity,
} from '#src/audit/index.js';
import type { JsonObject } from '../../kernel/index.js';
import { CommandError } from '../terminal/command-error.js';
import type { FoundLines } from './audit-lines.js';
import type { AuditOptions, AuditWish } from './audit-options.js';
import type { CliContext } from './context.js';

const PAGE = 1_000;

/** The last of the lines of all instances that are wanted, of the database. The search is in the trail itself. */
export async function searchStored(
  context: CliContext,
  options: AuditOptions,
  wish: AuditWish,
): Promise<FoundLines> {
  const events = eventsOf(wish.events);
  const app = await context.application();
  const lines = await newest(app.get(AuditEventsRepository), wish, events);
  const records = lines.slice(0, wish.limit).map(recordOf).reverse();
  const { event, user, where, outcome, since, until } = options;
  const filters = { event, user, where, outcome, since, until };
  app.get(Audit).done('audit.read', { filters, events: records.length });
  const more = `the last ${records.length} lines; --limit shows more`;
  return { records, more: lines.length > records.length ? more : undefined };
}

/** One line more than is asked for, when there is one. */
async function newest(
  trail: AuditEventsRepository,
  { users, where, outcome, since, until, limit }: AuditWish,
  events: string[] | undefined,
): Promise<AuditEventEntity[]> {
  const wanted = { events, where, outcome, since, until };
  const lines: AuditEventEntity[] = [];
  for (;;) {
    const most = Math.min(PAGE, limit + 1 - lines.length);
    const page = await trail.find({
      ...wanted,
      users: users.length > 0 ? users : undefined,
      before: lines.at(-1)?.id,
      limit: most,
    });
    lines.push(...page);
    if (page.length < most || lines.length > limit) return lines;
  }
}

function eventsOf(words: readonly string[]): string[] | undefined {
  if (words.length === 0) return undefined;
  const unknown = words.find((word) => auditEventsOf(word).length === 0);
  if (unknown !== undefined) throw new CommandError(`--event ${unknown} is no event`, 2);
  return [...new Set(words.flatMap(auditEventsOf))];
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
