import { Injectable } from '@nestjs/common';
import { columnsOf, Database, type Transaction } from '#src/database/index.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { leastIdOf } from './time-ordered-id.js';

/** A line as it is written: its other fields are JSON text. */
export type StoredAuditLine = Omit<AuditEventEntity, 'details'> & { details: string };

/** Which lines are wanted: alternatives of each kind, all kinds apply. */
export interface AuditSearch {
  events?: readonly string[] | undefined;
  /** Users, or accounts that ran commands. */
  users?: readonly string[] | undefined;
  groups?: readonly string[] | undefined;
  outcome?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  where?: readonly (readonly [key: string, value: string])[] | undefined;
  /** Only lines before the one with this id. */
  before?: string | undefined;
  /** At most so many. */
  limit: number;
}

const INSERT = `
  insert into audit_events (id, time, instance, event, outcome, user_name, group_name, client_id, details)
  select * from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::jsonb[])
  on conflict (id) do nothing`;

const REMOVE = `
  delete from audit_events where id in (select id from audit_events where id < $1 order by id limit $2)`;

const COLUMNS = columnsOf(AuditEventEntity, { alias: 'e' });
const WHO = `coalesce(e.user_name, e.details ->> 'account')`;

/** Fields of a line that are columns. */
const COLUMN_OF = new Map([
  ['instance', 'e.instance'],
  ['event', 'e.event'],
  ['outcome', 'e.outcome'],
  ['user', 'e.user_name'],
  ['group', 'e.group_name'],
  ['client', 'e.client_id'],
]);
const NUMBER = /^\d{1,15}$/;

/** The statements of the audit trail in the database. */
@Injectable()
export class AuditEventsRepository {
  constructor(private readonly database: Database) {}

  /** Writes lines; those that are there already, since an answer was lost, are left as they are. */
  async insert(lines: readonly StoredAuditLine[]): Promise<void> {
    const column = <K extends keyof StoredAuditLine>(name: K): StoredAuditLine[K][] =>
      lines.map((line) => line[name]);
    await this.database.execute({
      name: 'audit-insert',
      text: INSERT,
      values: [
        ...[column('id'), column('time'), column('instance'), column('event'), column('outcome')],
        ...[column('user'), column('group'), column('client'), column('details')],
      ],
    });
  }

  /** Lines, newest first. */
  async find(search: AuditSearch): Promise<AuditEventEntity[]> {
    const { text, values } = statementOf(search);
    return this.database.query<AuditEventEntity>({ text, values });
  }

  /** Removes at most `limit` of the lines before this time, the oldest first; answers how many those were. */
  async remove(transaction: Transaction, before: Date, limit: number): Promise<number> {
    const values = [leastIdOf(before.getTime()), limit];
    return transaction.execute({ name: 'audit-remove', text: REMOVE, values });
  }
}

/** The values of a statement, each known by its number. */
class Values {
  readonly all: unknown[] = [];

  add(value: unknown): string {
    return `$${this.all.push(value)}`;
  }
}

/**
 * Of several users or events each has its own newest lines, found by their index: at most `limit` of each are read, however many
 * there are.
 */
function statementOf(search: AuditSearch): { text: string; values: unknown[] } {
  const { events, users, limit } = search;
  const values = new Values();
  const conditions = conditionsOf(search, values);
  const most = `order by e.id desc limit ${values.add(limit)}::bigint`;
  const from = (condition: readonly string[]): string =>
    `select ${COLUMNS} from audit_events e where ${condition.join(' and ')} ${most}`;
  if (!users && !events) return { text: from(conditions), values: values.all };
  const each = users ?? events;
  if (users && events) conditions.push(`e.event = any(${values.add(events)}::text[])`);
  const own = from([`${users ? WHO : 'e.event'} = n.name`, ...conditions]);
  const text = `select e.* from unnest(${values.add(each)}::text[]) as n (name), lateral (${own}) e ${most}`;
  return { text, values: values.all };
}

function conditionsOf(search: AuditSearch, values: Values): string[] {
  const { groups, outcome, since, until, before, where = [] } = search;
  const conditions = ['true'];
  const bound = (comparison: string, id: string | undefined): void => {
    if (id !== undefined) conditions.push(`e.id ${comparison} ${values.add(id)}::uuid`);
  };
  bound('<', before);
  bound('>=', since && leastIdOf(since.getTime()));
  bound('<', until && leastIdOf(until.getTime()));
  if (groups) conditions.push(`e.group_name = any(${values.add(groups)}::text[])`);
  // Written out, so that the index of refusals is seen to fit.
  if (outcome === 'refused') conditions.push(`e.outcome = 'refused'`);
  else if (outcome !== undefined) conditions.push(`e.outcome = ${values.add(outcome)}`);
  conditions.push(...where.map(([key, value]) => fieldCondition(key, value, values)));
  return conditions;
}

/** The field, or one member of it, is this text; `jids=7` finds 7 alone and in `5-9` what is between. */
function fieldCondition(key: string, value: string, values: Values): string {
  const wanted = values.add(value);
  const column = COLUMN_OF.get(key);
  if (column !== undefined) return `${column} = ${wanted}`;
  const field = `e.details -> ${values.add(key)}::text`;
  const members = `case jsonb_typeof(${field}) when 'array' then ${field} else jsonb_build_array(${field}) end`;
  const part = (place: number): string => `split_part(one.text, '-', ${place})::bigint`;
  const between = NUMBER.test(value)
    ? ` or case when one.text ~ '^\\d{1,15}-\\d{1,15}$'
          then ${values.add(value)}::bigint between ${part(1)} and ${part(2)} end`
    : '';
  return `exists (select from jsonb_array_elements_text(${members}) as one (text)
    where one.text = ${wanted}${between})`;
}
