import type { Transaction } from '#src/database/index.js';
import type { StoredValue } from '../metadata/metadata-field.js';

/** A value that is set, changed or removed on a directory. */
export interface SegmentChange {
  directoryId: number;
  fieldId: number;
  column: ValueColumn;
  lo: Buffer;
  hi: Buffer;
  from: StoredValue | undefined;
  to: StoredValue | undefined;
}

type ValueColumn = 'int_value' | 'float_value' | 'text_value';

const COLUMNS: Record<ValueColumn, string> = {
  int_value: 'bigint',
  float_value: 'double precision',
  text_value: 'text',
};

/** Writes the changes; the caller holds the locks of their fields. */
export async function applySegments(
  transaction: Transaction,
  changes: readonly SegmentChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const gone = changes.filter(({ from }) => from !== undefined);
  if (gone.length > 0) {
    await transaction.execute({
      name: 'catalogue-segments-delete',
      text: `delete from catalogue_segment s using unnest($1::smallint[], $2::bytea[]) w (field_id, lo)
             where s.field_id = w.field_id and s.lo = w.lo`,
      values: [gone.map(({ fieldId }) => fieldId), gone.map(({ lo }) => lo)],
    });
  }
  for (const [column, cast] of Object.entries(COLUMNS) as [ValueColumn, string][]) {
    const ofColumn = changes.filter((change) => change.column === column);
    await insertSegments(transaction, ofColumn, column, cast);
    await countValues(transaction, ofColumn, column, cast);
  }
  await transaction.execute({
    name: 'catalogue-segments-touch',
    text: 'update catalogue_directory set modified_at = now() where id = any($1::integer[])',
    values: [[...new Set(changes.map(({ directoryId }) => directoryId))].sort((a, b) => a - b)],
  });
}

async function insertSegments(
  transaction: Transaction,
  changes: readonly SegmentChange[],
  column: ValueColumn,
  cast: string,
): Promise<void> {
  const set = changes.filter(({ to }) => to !== undefined);
  if (set.length === 0) return;
  await transaction.execute({
    name: `catalogue-segments-${column}`,
    text: `insert into catalogue_segment (directory_id, field_id, lo, hi, ${column})
           select * from unnest($1::integer[], $2::smallint[], $3::bytea[], $4::bytea[], $5::${cast}[])`,
    values: [
      set.map(({ directoryId }) => directoryId),
      set.map(({ fieldId }) => fieldId),
      set.map(({ lo }) => lo),
      set.map(({ hi }) => hi),
      set.map(({ to }) => to),
    ],
  });
}

/** Keeps the number of segments of each distinct value; a value without segments disappears. */
async function countValues(
  transaction: Transaction,
  changes: readonly SegmentChange[],
  column: ValueColumn,
  cast: string,
): Promise<void> {
  const counts = new Map<string, { fieldId: number; value: StoredValue; change: number }>();
  const count = (fieldId: number, value: StoredValue | undefined, change: number): void => {
    if (value === undefined) return;
    const key = `${fieldId} ${value}`;
    const known = counts.get(key) ?? { fieldId, value, change: 0 };
    known.change += change;
    counts.set(key, known);
  };
  for (const { fieldId, from, to } of changes) {
    count(fieldId, from, -1);
    count(fieldId, to, 1);
  }
  const more = [...counts.values()].filter(({ change }) => change > 0);
  const fewer = [...counts.values()].filter(({ change }) => change < 0);
  const columns = (rows: typeof more): unknown[] => [
    rows.map(({ fieldId }) => fieldId),
    rows.map(({ value }) => value),
    rows.map(({ change }) => Math.abs(change)),
  ];
  const rows = `unnest($1::smallint[], $2::${cast}[], $3::bigint[]) w (field_id, value, segments)`;
  const same = `v.field_id = w.field_id and v.${column} = w.value`;
  if (more.length > 0) {
    const counted = await transaction.query<{ field_id: number }>({
      name: `catalogue-values-more-${column}`,
      text: `insert into catalogue_value as v (field_id, ${column}, segments) select * from ${rows}
             on conflict (field_id, ${column}) where ${column} is not null
             do update set segments = v.segments + excluded.segments
             returning field_id, xmax = 0 as is_new`,
      values: columns(more),
    });
    await countDistinct(transaction, counted.filter(isNew), 1);
  }
  if (fewer.length > 0) {
    const gone = await transaction.query<{ field_id: number }>({
      name: `catalogue-values-gone-${column}`,
      text: `delete from catalogue_value v using ${rows} where ${same} and v.segments = w.segments
             returning v.field_id`,
      values: columns(fewer),
    });
    await countDistinct(transaction, gone, -1);
    await transaction.execute({
      name: `catalogue-values-fewer-${column}`,
      text: `update catalogue_value v set segments = v.segments - w.segments from ${rows}
             where ${same} and v.segments > w.segments`,
      values: columns(fewer),
    });
  }
}

/** A row that the statement has inserted, not updated (nobody else holds the field's lock). */
function isNew(row: { field_id: number; is_new?: boolean }): boolean {
  return row.is_new === true;
}

/** Each row is one distinct value more or less of its field. */
async function countDistinct(
  transaction: Transaction,
  rows: readonly { field_id: number }[],
  change: 1 | -1,
): Promise<void> {
  if (rows.length === 0) return;
  await transaction.execute({
    name: 'catalogue-values-distinct',
    text: `update catalogue_field f set value_count = value_count + w.n * $2::integer
           from (select id, count(*) as n from unnest($1::smallint[]) id group by id) w where f.id = w.id`,
    values: [rows.map((row) => row.field_id), change],
  });
}
