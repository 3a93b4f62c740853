import type { Queryable } from '#src/platform/index.js';
import type { MetadataField } from './metadata-field.js';

/** The declared fields of these names. */
export async function findFields(
  source: Queryable,
  names: readonly string[],
): Promise<Map<string, MetadataField>> {
  if (names.length === 0) return new Map();
  const rows = await source.query<MetadataField>({
    name: 'catalogue-fields-find',
    text: 'select id, name, type from catalogue_field where name = any($1)',
    values: [names],
  });
  return new Map(rows.map((field) => [field.name, field]));
}

/** All declared fields by id. */
export async function allFields(source: Queryable): Promise<Map<number, MetadataField>> {
  const rows = await source.query<MetadataField>({
    name: 'catalogue-fields',
    text: 'select id, name, type from catalogue_field order by name',
  });
  return new Map(rows.map((field) => [field.id, field]));
}
