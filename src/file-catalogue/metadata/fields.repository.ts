import { columnsOf, type Queryable } from '#src/database/index.js';
import { CatalogueFieldEntity } from './catalogue-field.entity.js';
import { pathChain } from '../path/catalogue-path.js';
import {
  valueOf,
  type FieldType,
  type MetadataField,
  type StoredValue,
  type ValueRow,
} from './metadata-field.js';

const FIELD_COLUMNS = columnsOf(CatalogueFieldEntity, { only: ['id', 'name', 'type'] });

/** The declared fields of these names. */
export async function findFields(
  source: Queryable,
  names: readonly string[],
): Promise<Map<string, MetadataField>> {
  if (names.length === 0) return new Map();
  const rows = await source.query<MetadataField>({
    name: 'catalogue-fields-find',
    text: `select ${FIELD_COLUMNS} from catalogue_field where name = any($1)`,
    values: [names],
  });
  return new Map(rows.map((field) => [field.name, field]));
}

/** All declared fields by id. */
export async function allFields(source: Queryable): Promise<Map<number, MetadataField>> {
  const rows = await source.query<MetadataField>({
    name: 'catalogue-fields',
    text: `select ${FIELD_COLUMNS} from catalogue_field order by name`,
  });
  return new Map(rows.map((field) => [field.id, field]));
}

/** Names, types and values of all fields that hold on the directory of this path: set on it or on one above it. */
export async function valuesHolding(
  source: Queryable,
  path: string,
): Promise<{ name: string; type: FieldType; value: StoredValue }[]> {
  const rows = await source.query<{ name: string; type: FieldType } & ValueRow>({
    name: 'catalogue-values-holding',
    text: `select f.name, f.type, s.int_value, s.float_value, s.text_value
           from (select id from catalogue_directory where path = any($1) offset 0) d
           cross join lateral (select * from catalogue_segment where directory_id = d.id offset 0) s
           join catalogue_field f on f.id = s.field_id order by f.name`,
    values: [pathChain(path)],
  });
  return rows.map((row) => ({ name: row.name, type: row.type, value: valueOf(row) }));
}

/** Values of the fields that hold on a directory: set on it or on one above it. */
export async function readChainValues(
  source: Queryable,
  directoryIds: readonly number[],
): Promise<Map<number, StoredValue>> {
  const rows = await source.query<{ field_id: number; value: StoredValue } & ValueRow>({
    name: 'catalogue-chain-values',
    text: `select field_id, int_value, float_value, text_value from catalogue_segment
           where directory_id = any($1::integer[])`,
    values: [directoryIds],
  });
  return new Map(rows.map((row) => [row.field_id, valueOf(row)]));
}
