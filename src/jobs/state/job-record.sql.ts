import { JOB_ATTRIBUTES, type JobAttribute } from './job-attributes.js';

const ISO = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';

/** The value of an attribute as JSON text; null where the column is. */
function jsonOf({ type, sql }: JobAttribute): string {
  switch (type) {
    case 'text':
    case 'state':
      return `to_json(${sql})`;
    case 'time':
      return `'"' || to_char(${sql} at time zone 'UTC', '${ISO}') || '"'`;
    case 'boolean':
      return `case when ${sql} then 'true' else 'false' end`;
    default:
      return sql;
  }
}

/** `"name":value` as pieces for concat, which passes by what is null; `before` stands before it, unless it is left out. */
function memberOf(attribute: JobAttribute, before: string): string {
  const { wire, sql, type, isNullable, shown } = attribute;
  const name = `'${before}"${wire}":'`;
  if (shown.required !== false) return `${name}, ${jsonOf(attribute)}`;
  const isThere = isNullable ? `${sql} is not null` : `${sql} <> ''`;
  const value =
    type === 'time' || type === 'text' ? jsonOf(attribute) : `(${jsonOf(attribute)})::text`;
  return `case when ${isThere} then ${name} || ${value} end`;
}

function membersOf(isWanted: (attribute: JobAttribute) => boolean): string {
  const wanted = JOB_ATTRIBUTES.filter(isWanted);
  return wanted.map((attribute, index) => memberOf(attribute, index === 0 ? '' : ',')).join(', ');
}

/**
 * The record of a job (JobResponse) as JSON text by PostgreSQL: the service reads and writes one text a job in place of 32 values.
 * Over the columns of `jobs`.
 */
export const JOB_RECORD = `concat('{', ${membersOf(({ type }) => type !== 'boolean' && type !== 'time')},
  ',"flags":{', ${membersOf(({ type }) => type === 'boolean')},
  '},"times":{', ${membersOf(({ type }) => type === 'time')}, '}}')`;
