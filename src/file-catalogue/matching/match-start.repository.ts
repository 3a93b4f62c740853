import { parseInt8, type Queryable, type Transaction } from '#src/database/index.js';
import { cursorText, feedColumns, feedCursorOf } from '#src/events/index.js';
import { cursorRows, StatementText } from '../statements/catalogue-statements.repository.js';
import type { Actor, Guarded } from '../access/catalogue.policy.js';
import type { FieldType, MetadataField, StoredValue } from '../metadata/metadata-field.js';
import { baseName, pathChain } from '../path/catalogue-path.js';
import type { TotalsChange } from '../totals/exact-totals.js';
import {
  PENDING_TOTALS,
  unreadableBesideTops,
  unreadableDirectories,
  type ChangesInOrder,
} from '../totals/visible-part.repository.js';
import { PLAN_LIMITS, type FieldConditions, type SegmentCosts } from './match-plan.js';
import { inLabels, predicate } from './match-text.repository.js';

/** A directory on the way to the start. */
export interface StartDirectory extends Guarded {
  id: number;
  parent: number | null;
  path: string;
  label: Buffer;
}

/** What is asked about a start directory. */
export interface StartQuestion {
  path: string;
  actor: Actor;
  /** Nothing below the start is kept from the actor. */
  readsAll: boolean;
  /** Names of the fields of the conditions. */
  names: readonly string[];
  groups: readonly FieldConditions[];
  /** Read what is pending, for exact totals. */
  withTotals: boolean;
}

/** Everything that a search needs to know before it begins, from one statement. */
export interface StartFacts {
  fields: Map<string, MetadataField>;
  /** Directories that exist on the way, the root first. */
  chain: StartDirectory[];
  /** Values of the fields that are set on the way. */
  values: Map<number, StoredValue>;
  /** Directories below the start whose own bits keep the caller out, in order. */
  hidden: ChangesInOrder;
  /** Read after `hidden`. */
  pending: ChangesInOrder;
  /** Of each group; empty when there is nothing to choose. */
  costs: SegmentCosts[];
  /** Of the feed, at the moment of the snapshot. */
  position: string;
}

interface FactsRow {
  feed_position: number;
  feed_seen: string | null;
  fields: { id: number; name: string; type: FieldType }[] | null;
  chain: (Omit<StartDirectory, 'label'> & { label: string })[] | null;
  values: [number, string | null, number | null, string | null][] | null;
  hidden: TotalsRow[] | null;
  pending: TotalsRow[] | null;
  costs: (number | null)[] | null;
}
type TotalsRow = [label: string, files: number, bytes: string];
interface ChangeRow {
  label: Buffer;
  files: number | bigint;
  bytes: string;
}

/** Up to this many segments with the value, nothing can be gained by another way to them. */
const VERY_FEW = 64;

/** So many of the directories and changes come with the other facts; of more, all are read by a cursor. */
const FEW_CHANGES = 2_000;

const FEED = feedColumns('filecatalogue');

/** Reads the facts about a start directory. A label followed by 0xff is the end of its subtree: no label has 0xff. */
export async function readStart(source: Transaction, question: StartQuestion): Promise<StartFacts> {
  const text = new StatementText();
  const { groups } = question;
  const paths = text.bind(pathChain(question.path), 'text[]');
  const path = text.bind(question.path, 'text');
  const columns = [
    `(select json_agg(c) from chain c) as chain`,
    FEED,
    ...fieldColumns(text, question),
    question.readsAll ? 'null as hidden' : `(${asArray(hiddenTops(text, question))}) as hidden`,
    question.withTotals ? `(${asArray(changes(text, question))}) as pending` : 'null as pending',
    needsNoChoice(question) ? 'null as costs' : `(${costs(text, groups, question)}) as costs`,
  ];
  const [row] = await source.query<FactsRow>(
    text.statement(`
      with chain as materialized (
        select id, parent, path, label, owner_id, group_id, mode
        from catalogue_directory where path = any(${paths})),
      start as materialized (
        select label as lo, label || '\\xff'::bytea as hi from chain where path = ${path})
      select ${columns.join(',\n')}`),
  );
  const all = (few: TotalsRow[] | null | undefined, select: SelectText): ChangesInOrder =>
    few && few.length > FEW_CHANGES
      ? readAll(source, question.path, select)
      : [(few ?? []).map(changeOf)];
  return {
    ...factsOf(row, groups.length),
    hidden: all(row?.hidden, (further) => hiddenTops(further, question)),
    pending: all(row?.pending, (further) => changes(further, question)),
  };
}

/** The first of the rows as one array, and one more than are few. */
function asArray(select: string): string {
  return `select json_agg(json_build_array(label, files, bytes::text) order by label)
    from (${select} limit ${FEW_CHANGES + 1}) few`;
}

type SelectText = (text: StatementText) => string;

/** All rows, some thousand at a time: as one array they would hold up everybody while it is parsed. */
async function* readAll(
  source: Transaction,
  path: string,
  select: SelectText,
): AsyncGenerator<TotalsChange[]> {
  const text = new StatementText();
  const start = `with start as materialized (
    select label as lo, label || '\\xff'::bytea as hi from catalogue_directory
    where path = ${text.bind(path, 'text')})`;
  const rows = `select * from (${select(text)}) changes order by label`;
  const statement = { text: `${start} ${rows}`, values: text.values };
  for await (const rows of cursorRows<ChangeRow>(source, statement)) {
    yield rows.map(({ label, files, bytes: total }) => ({
      label,
      files: Number(files),
      bytes: BigInt(total),
    }));
  }
}

function fieldColumns(text: StatementText, { names, groups }: StartQuestion): string[] {
  if (names.length === 0) return ['null as fields', 'null as values'];
  const wanted = text.bind(names, 'text[]');
  const ids = text.bind(
    groups.map(({ field }) => field.id),
    'smallint[]',
  );
  return [
    `(select json_agg(f) from (
       select id, name, type from catalogue_field where name = any(${wanted})) f) as fields`,
    `(select json_agg(json_build_array(s.field_id, s.int_value::text, s.float_value, s.text_value))
      from chain c cross join lateral (
        select * from catalogue_segment where directory_id = c.id offset 0) s
      where s.field_id = any(${ids})) as values`,
  ];
}

/** What is opened or closed whatever the bits say lies directly in the root, and so below no other start that bits decide of. */
function hiddenTops(text: StatementText, { path, actor }: StartQuestion): string {
  const numbers = [
    text.bind(actor.userId, 'integer'),
    text.bind(actor.groupId, 'integer'),
  ] as const;
  const closed = [...actor.closed];
  const decided = [...closed, ...actor.opened, ...(actor.managedPath ? [actor.managedPath] : [])];
  if (path !== '/' || decided.length === 0) return unreadableDirectories(...numbers);
  const tops = { closed: text.bind(closed, 'text[]'), decided: text.bind(decided, 'text[]') };
  return unreadableBesideTops(...numbers, tops);
}

/** What is pending, and files of the root with names of other organisations, which do not count. */
function changes(text: StatementText, { path, actor }: StartQuestion): string {
  if (path !== '/' || actor.closed.size === 0) return PENDING_TOTALS;
  const names = text.bind([...actor.closed].map(baseName), 'text[]');
  return `
    (${PENDING_TOTALS}) union all
    select d.label, -count(*), -sum(f.size::numeric) from catalogue_directory d
    join catalogue_file f on f.directory_id = d.id
    where d.path = '/' and f.name = any(${names}) group by d.label`;
}

/** One condition on the whole tree is always looked up by its values. */
function needsNoChoice({ groups, path }: StartQuestion): boolean {
  return groups.length === 0 || (groups.length === 1 && path === '/');
}

function costs(
  text: StatementText,
  groups: readonly FieldConditions[],
  { path }: StartQuestion,
): string {
  const [lo, hi] = ['(select lo from start)', '(select hi from start)'];
  return segmentCosts(text, groups, {
    limit: PLAN_LIMITS.fewSegments,
    labels: path === '/' ? undefined : { lo, hi },
  });
}

/** Select of one array: for each group the number of its segments by value and by label, as far as they count. */
function segmentCosts(
  text: StatementText,
  groups: readonly FieldConditions[],
  { limit, labels }: { limit: number; labels: { lo: string; hi: string } | undefined },
): string {
  const columns = groups.map((group, index) => {
    const field = `field_id = ${text.bind(group.field.id, 'smallint')}`;
    const count = (where: string): string =>
      `(select count(*) from (select from catalogue_segment where ${field} and ${where} limit ${limit + 1}) b)`;
    const byValue = `v${index} as materialized (select ${count(predicate(text, group, ''))} as n)`;
    const byLabel = labels
      ? `case when n > ${VERY_FEW} then ${count(inLabels('lo', labels))} end`
      : 'null::bigint';
    return { byValue, result: `(select n from v${index}), (select ${byLabel} from v${index})` };
  });
  const ctes = columns.map(({ byValue }) => byValue).join(', ');
  return `with ${ctes} select json_build_array(${columns.map(({ result }) => result).join(', ')})`;
}

/** The costs again, counting up to a higher limit. */
export async function readCosts(
  source: Queryable,
  groups: readonly FieldConditions[],
  place: { start: StartDirectory; limit: number },
): Promise<SegmentCosts[]> {
  const text = new StatementText();
  const { start, limit } = place;
  const select = segmentCosts(text, groups, { limit, labels: labelsBelow(text, start) });
  const [row] = await source.query<{ costs: (number | null)[] }>(
    text.statement(`select (${select}) as costs`),
  );
  return costsOf(row?.costs ?? [], limit);
}

function labelsBelow(
  text: StatementText,
  { parent, label }: StartDirectory,
): { lo: string; hi: string } | undefined {
  if (parent === null) return undefined;
  const lo = text.bind(label, 'bytea');
  return { lo, hi: `(${lo} || '\\xff'::bytea)` };
}

function factsOf(
  row: FactsRow | undefined,
  groups: number,
): Omit<StartFacts, 'hidden' | 'pending'> {
  const chain = (row?.chain ?? []).map((each) => ({ ...each, label: bytes(each.label) }));
  return {
    fields: new Map((row?.fields ?? []).map((field) => [field.name, field])),
    chain: chain.sort((a, b) => a.label.length - b.label.length),
    values: new Map(
      (row?.values ?? []).map(([field, int, float, string]) => [
        field,
        int === null ? (float ?? string ?? '') : parseInt8(int),
      ]),
    ),
    position: row ? cursorText(feedCursorOf(row)) : '0',
    costs: groups > 0 && row?.costs ? costsOf(row.costs, PLAN_LIMITS.fewSegments) : [],
  };
}

function costsOf(counts: readonly (number | null)[], limit: number): SegmentCosts[] {
  const bounded = (count: number | null | undefined): number =>
    count === null || count === undefined || count > limit ? Infinity : count;
  return Array.from({ length: counts.length / 2 }, (_, index) => ({
    value: bounded(counts[2 * index]),
    label: bounded(counts[2 * index + 1]),
  }));
}

function changeOf([label, files, total]: TotalsRow): TotalsChange {
  return { label: bytes(label), files, bytes: BigInt(total) };
}

/** bytea as JSON writes it: `\x` and hexadecimal digits. */
function bytes(text: string): Buffer {
  return Buffer.from(text.slice(2), 'hex');
}
