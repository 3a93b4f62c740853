import { escapeLiteral } from 'pg';
import { ChangeFeed } from '#src/database/index.js';
import { ADMISSION, admissionSteps, WORK_CHANNEL } from '../state/admission.js';
import { assertPath } from '../state/job-transitions.js';
import { logMoves, logMovesTogether, noteMoves } from '../state/logged-move.sql.js';
import { JOB_COLUMNS, LINE_MEMBERS, USUAL } from './job-lines.js';

/** The first steps of jobs with input data, and of all others, as rows of has_input, n, status, minor and source. */
const FIRST_STEPS = [true, false]
  .flatMap((hasInput) => {
    const steps = admissionSteps(hasInput);
    assertPath(steps.map((step) => step.to));
    return steps.map(({ to, minor, source }, index) => {
      const texts = [to, minor, source].map((text) => escapeLiteral(text));
      return `(${[hasInput, index + 1, ...texts].join(', ')})`;
    });
  })
  .join(', ');

/** From this many jobs on their moves are logged together. */
export const LOGGED_TOGETHER = 10;

/** $1: list of templates; $2: their ids. */
export const ADD_TEMPLATES = `
  insert into job_templates (id, manifest, added) overriding system value
  select id, manifest, added
  from rows from (
    json_to_recordset($1::json) as (manifest json, added json), unnest($2::bigint[])
  ) as x (manifest, added, id)`;

/** A line of a job as a record, the names of its columns, and their values with what lines do not say. */
const MEMBERS = Object.entries(LINE_MEMBERS);
const RECORD = MEMBERS.map(([name, type]) => `${name} ${type}`).join(', ');
const COLUMNS = MEMBERS.map(([name]) => name).join(', ');
const ABSENT: ReadonlyMap<string, number | boolean> = new Map(Object.entries(USUAL));
const VALUES = MEMBERS.map(([name, type]) => {
  const absent = type === 'text[]' ? `'{}'` : ABSENT.get(name);
  return absent === undefined ? `x.${name}` : `coalesce(x.${name}, ${String(absent)}) as ${name}`;
}).join(', ');

const OF_JOBS = Object.keys(JOB_COLUMNS).join(', ');

/** Adds the jobs of the table `r` with their history, of the moment `now`; the last part is an insert. */
const fromRows = (now: string, log: (moves: string) => string): string => `added as (
    insert into jobs (jid, setup, owner, owner_dn, owner_group, vo, status, minor_status, name, ${OF_JOBS},
      verified, held_by, input_sandbox, submission_time, last_update, array_id)
    overriding system value
    select jid, setup, owner, owner_dn, owner_group, vo, status, minor, replace(name, '%j', jid::text), ${OF_JOBS},
      status = '${ADMISSION.admitted}', held_by, input_sandbox, ${now}, ${now}, array_id from r
  ), described as (
    insert into job_descriptions (jid, manifest, place_values, template, token_right)
    select jid, manifest, place_values, template_id, token_right from r
  ), passed as materialized (
    select r.jid, r.site, s.n, s.status, case when s.status = '${ADMISSION.admitted}' then r.minor else s.minor end as minor,
      'Unknown' as app, ${now}::timestamptz as last_update, null::json as before, s.source
    from r join (values ${FIRST_STEPS}) as s (has_input, n, status, minor, source) using (has_input)
  ), ${noteMoves('passed', 'source', log)}`;

/** Jobs of one request: $1 lines, then what they have in common, their ids and those of the templates. */
const ofRequest = (log: (moves: string) => string): string => `
  with r as materialized (
    select ${VALUES}, x.jid, template_ids.ids[template] as template_id, whose.*
    from rows from (json_to_recordset($1::json) as (${RECORD}), unnest($8::bigint[])) as x (${COLUMNS}, jid),
      (select $9::bigint[] as ids) as template_ids,
      (select $2::text as setup, $3::text as owner, $4::text as owner_dn, $5::text as owner_group, $6::text as vo,
        $7::text as input_sandbox, $11::bigint as array_id) as whose
  ), ${fromRows('$10', log)} select`;

/** For few jobs. */
export const ADD_JOBS = { name: 'jobs-add', text: ofRequest(logMoves) };
/** From LOGGED_TOGETHER jobs on. */
export const ADD_MANY_JOBS = { name: 'jobs-add-many', text: ofRequest(logMovesTogether) };

/**
 * Jobs of several requests, and the notification of the dispatchers: $1 lines, $2 the moment, then for each
 * job which of the requests it is of, and whose. Answers the ids and whose they are, in the order of the lines.
 */
const ofRequests = (log: (moves: string) => string): string => `
  with r as materialized (
    select ${VALUES}, x.request, x.setup, x.owner, x.owner_dn, x.owner_group, x.vo, x.input_sandbox,
      nextval(sequence.name) as jid, null::bigint as template_id, null::bigint as array_id
    from rows from (
      json_to_recordset($1::json) as (${RECORD}),
      unnest($3::integer[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
    ) as x (${COLUMNS}, request, setup, owner, owner_dn, owner_group, vo, input_sandbox),
      (select pg_get_serial_sequence('jobs', 'jid') as name) as sequence
  ), ${fromRows('$2', log)}, notified as materialized (
    ${ChangeFeed.notification('').text.replace('$1, $2', `'${WORK_CHANNEL}', ''`)}
  )
  select r.jid, r.request from r, notified order by r.jid`;

export const ADD_GATHERED = { name: 'jobs-add-gathered', text: ofRequests(logMoves) };
export const ADD_MANY_GATHERED = {
  name: 'jobs-add-many-gathered',
  text: ofRequests(logMovesTogether),
};
