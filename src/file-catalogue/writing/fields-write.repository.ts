import { CATALOGUE_LOCKS, LOCK_SPACES, type Transaction } from '#src/database/index.js';
import type { FieldType, MetadataField } from '../metadata/metadata-field.js';

/** Declares a field; undefined when one of that name exists. */
export async function insertField(
  transaction: Transaction,
  name: string,
  type: FieldType,
): Promise<MetadataField | undefined> {
  const [row] = await transaction.query<MetadataField>({
    name: 'catalogue-field-insert',
    text: `insert into catalogue_field (name, type) values ($1, $2)
           on conflict do nothing returning id, name, type`,
    values: [name, type],
  });
  return row;
}

/** Removes a field with all its values on directories; values on files stay as free keys. */
export async function deleteField(transaction: Transaction, fieldId: number): Promise<void> {
  await transaction.query({
    name: 'catalogue-field-lock',
    text: `select pg_advisory_xact_lock_shared(${LOCK_SPACES.catalogue}, ${CATALOGUE_LOCKS.moves}),
             pg_advisory_xact_lock(${LOCK_SPACES.fields}, $1)`,
    values: [fieldId],
  });
  for (const [table, column] of [
    ['catalogue_segment', 'field_id'],
    ['catalogue_value', 'field_id'],
    ['catalogue_field', 'id'],
  ]) {
    await transaction.execute({
      name: `catalogue-field-delete-${table}`,
      text: `delete from ${table} where ${column} = $1`,
      values: [fieldId],
    });
  }
}

/** Fields that are set on these directories. */
export async function fieldsSetOn(
  transaction: Transaction,
  paths: readonly string[],
): Promise<MetadataField[]> {
  if (paths.length === 0) return [];
  return transaction.query<MetadataField>({
    name: 'catalogue-fields-set-on',
    text: `select distinct f.id, f.name, f.type from catalogue_directory d
           join catalogue_segment s on s.directory_id = d.id
           join catalogue_field f on f.id = s.field_id where d.path = any($1)`,
    values: [paths],
  });
}
