import type { Queryable } from '#src/database/index.js';
import { cursorText, feedColumns, feedCursorOf } from '#src/events/index.js';
import {
  type FieldType,
  type MetadataField,
  type StoredValue,
  VALUE_COLUMN,
} from '../metadata/metadata-field.js';
import { StatementText } from '../statements/catalogue-statements.repository.js';
import { ExactTotals, type Match } from '../totals/exact-totals.js';
import { pendingTotals, rangesBeside } from '../totals/visible-part.repository.js';

/** A field that has one value, and in which directories that is asked. */
export interface ValueWanted {
  field: MetadataField;
  value: StoredValue;
}

/** A search that may be answered together with others: fields with one value each below a directory, all of it readable. */
export interface FewQuestion {
  path: string;
  wanted: readonly ValueWanted[];
  /** The bits decide, save in these directories: it is answered only where they keep nobody out. */
  opened?: readonly string[];
}

/** The whole answer of such a search, in depth-first order. */
export interface FewMatches {
  /** Of the feed, at that moment. */
  position: string;
  matches: Match[];
}

/** Up to so many segments of each value, directories of an answer and pending changes; more is searched for alone. Only speed depends on them. */
export const FEW_LIMITS = { segments: 64, matches: 100, pending: 500, boundaries: 64 };

/** Searches of one statement. */
const MOST_TOGETHER = 50;

const FEED = feedColumns('filecatalogue');

interface Facts {
  fields: MetadataField[] | null;
  pending: [label: string, files: number, bytes: string][] | null;
  feed_position: number;
  feed_seen: string | null;
}
interface Row {
  place: number;
  facts: Facts | null;
  is_left: boolean | null;
  label: Buffer | null;
  path: string;
  files: number;
  bytes: string;
}

/**
 * Answers searches that find few directories, those of one shape with one statement, which is one state of the database. What
 * it cannot answer is left out: a start that does not exist, a field that has changed, an answer that is not few.
 */
export async function readFewMatches(
  source: Queryable,
  questions: readonly FewQuestion[],
): Promise<Map<FewQuestion, FewMatches>> {
  const shapes = new Map<string, FewQuestion[]>();
  for (const question of questions) {
    const columns = question.wanted.map(({ field }) => VALUE_COLUMN[field.type]);
    const shape = JSON.stringify([columns, question.opened]);
    const alike = shapes.get(shape);
    if (alike) alike.push(question);
    else shapes.set(shape, [question]);
  }
  const answers = new Map<FewQuestion, FewMatches>();
  for (const alike of shapes.values()) {
    for (let from = 0; from < alike.length; from += MOST_TOGETHER) {
      await readAlike(source, alike.slice(from, from + MOST_TOGETHER), answers);
    }
  }
  return answers;
}

async function readAlike(
  source: Queryable,
  questions: readonly FewQuestion[],
  answers: Map<FewQuestion, FewMatches>,
): Promise<void> {
  const [first, ...rows] = await source.query<Row>(statementOf(questions));
  const facts = first?.facts;
  if (!facts || (facts.pending?.length ?? 0) > FEW_LIMITS.pending) return;
  const now = new Map((facts.fields ?? []).map(({ id, name, type }) => [name, `${id} ${type}`]));
  const totals = totalsOf(facts);
  const position = cursorText(feedCursorOf(facts));
  const found = new Map<FewQuestion, Match[]>();
  for (const row of rows) {
    const { label, path, files, bytes } = row;
    const question = questions[row.place - 1];
    if (!question || row.is_left === true) continue;
    const matches = found.get(question) ?? [];
    found.set(question, matches);
    if (label) matches.push({ path, ...totals.of(label, { files, bytes: BigInt(bytes) }) });
  }
  for (const [question, matches] of found) {
    const areSame = question.wanted.every(
      ({ field }) => now.get(field.name) === `${field.id} ${field.type}`,
    );
    if (areSame && matches.length <= FEW_LIMITS.matches)
      answers.set(question, { position, matches });
  }
}

function totalsOf({ pending }: Facts): ExactTotals {
  const totals = new ExactTotals();
  for (const [label, files, bytes] of pending ?? []) {
    totals.add(Buffer.from(label.slice(2), 'hex').toString('latin1'), files, BigInt(bytes));
  }
  return totals;
}

const CAST: Record<FieldType, string> = {
  int: 'bigint',
  float: 'double precision',
  string: 'text',
  date: 'bigint',
};

/**
 * The first row has what holds for all, every further one a directory of the search at `place`; one without a label says
 * that its start exists. Segments of a value are few or not read on, so their ranges are intersected at once. The arrays stand in
 * sub-selects so that the planner does not see how long they are: it would plan anew for each short one, which costs more than
 * twice as much as sixteen searches.
 */
function statementOf(questions: readonly FewQuestion[]): ReturnType<StatementText['statement']> {
  const text = new StatementText();
  const wanted = questions[0]?.wanted ?? [];
  const arrays = [
    text.bind(
      questions.map(({ path }) => path),
      'text[]',
    ),
  ];
  const names = text.bind(
    [...new Set(questions.flatMap((each) => each.wanted.map(({ field }) => field.name)))],
    'text[]',
  );
  for (const [index, { field }] of wanted.entries()) {
    const of = questions.map((question) => question.wanted[index] as ValueWanted);
    arrays.push(
      text.bind(
        of.map((each) => each.field.id),
        'smallint[]',
      ),
    );
    arrays.push(
      text.bind(
        of.map(({ value }) => String(value)),
        `${CAST[field.type]}[]`,
      ),
    );
  }
  const columns = wanted.map((_each, index) => `field${index}, value${index}`);
  const segments = wanted.map(segmentsWith);
  const counts = wanted.map((_each, index) => `n${index}`).join(', ');
  const spans = wanted.map((_each, index) => `spans${index}`).join(' * ');
  const opened = questions[0]?.opened;
  const guard = opened ? `or ${mayBeClosed(text.bind(opened, 'text[]'))}` : '';
  return text.statement(`
    with asked as materialized (
      select place::integer, ${columns.join(', ')}, label as start_lo, label || '\\xff'::bytea as start_hi
      from unnest(${arrays.map((array) => `(select ${array})`).join(', ')}) with ordinality w (path, ${columns.join(', ')}, place)
      join catalogue_directory using (path))
    select 0 as place, row_to_json(f) as facts, null::boolean as is_left, null::bytea as label,
      null::text as path, null::bigint as files, null::text as bytes
    from (select (select json_agg(a) from (
        select id, name, type from catalogue_field where name = any(${names})) a) as fields,
      (select json_agg(json_build_array(label, files, bytes::text)) from (
        ${pendingTotals()} limit ${FEW_LIMITS.pending + 1}) p) as pending,
      ${FEED}) f
    union all
    select place, null, is_left, d.label, d.path, d.sub_files, d.sub_bytes::text
    from asked ${segments.join('')}
    cross join lateral (select greatest(${counts}) > ${FEW_LIMITS.segments} ${guard} as is_left offset 0) many
    left join lateral (
      select d.* from unnest(case when is_left then '{}'::catalogue_spans
          else catalogue_spans(catalogue_span(start_lo, start_hi)) * ${spans} end) span
      cross join lateral (
        select label, path, sub_files, sub_bytes from catalogue_directory
        where label >= lower(span) and label < upper(span) order by label offset 0) d
      limit ${FEW_LIMITS.matches + 1}) d on true`);
}

const ALL_READ = 0o444;

/**
 * Is a directory on the way to the start or below it, save in the opened ones, closed to anybody, or are there more
 * boundaries than are looked at? The beginnings of a label are the labels of all directories above it.
 */
function mayBeClosed(opened: string): string {
  const isClosed = `mode & ${ALL_READ} <> ${ALL_READ}`;
  return `exists (
      select from catalogue_directory where ${isClosed} and label = any(array(
        select substr(start_lo, 1, bytes) from generate_series(0, length(start_lo)) n (bytes))))
    or (select count(*) > ${FEW_LIMITS.boundaries} or coalesce(bool_or(${isClosed}), false) from (
      select mode from (select start_lo as lo, start_hi as hi offset 0) start
      cross join lateral ${rangesBeside(opened)} span
      cross join lateral (
        select mode from catalogue_directory where boundary and label >= lower(span) and label < upper(span)
        limit ${FEW_LIMITS.boundaries + 1}) d
      limit ${FEW_LIMITS.boundaries + 1}) b)`;
}

/** Adds the number of segments that have the value wanted at this place, and their ranges. */
function segmentsWith({ field }: ValueWanted, index: number): string {
  return `
      cross join lateral (
        select count(*) as n${index}, coalesce(range_agg(catalogue_span(lo, hi)), '{}') as spans${index}
        from (select lo, hi from catalogue_segment
              where field_id = field${index} and ${VALUE_COLUMN[field.type]} = value${index}
              limit ${FEW_LIMITS.segments + 1}) few) s${index}`;
}
