import { getMetadataArgsStorage } from 'typeorm';
import { SnakeNamingStrategy } from './snake-naming-strategy.js';

/** A class with `@Entity`. */
export type EntityClass = new () => object;

const NAMES = new SnakeNamingStrategy();

/** Every entity class of the modules that have been imported; rooms make repositories of them by `forFeature`. */
export function registeredEntities(): EntityClass[] {
  return getMetadataArgsStorage().tables.map(({ target }) => target as EntityClass);
}

/**
 * The columns of an entity as the select list of a statement written by hand, so that its rows have the entity's shape:
 * `kid, public_jwk as "publicJwk"`; with an alias `k.kid, k.public_jwk as "publicJwk"`. `only` picks properties.
 */
export function columnsOf<E extends object>(
  entity: new () => E,
  { alias, only }: { alias?: string; only?: readonly (keyof E & string)[] } = {},
): string {
  const before = alias === undefined ? '' : `${alias}.`;
  const wanted = getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(
      ({ propertyName }) => only === undefined || only.includes(propertyName as keyof E & string),
    )
    .map(({ propertyName, options: { name } }) => {
      const column = NAMES.columnName(propertyName, name, []);
      return column === propertyName
        ? `${before}${column}`
        : `${before}${column} as "${propertyName}"`;
    });
  if (wanted.length === 0) throw new Error(`${entity.name} has no such column`);
  return wanted.join(', ');
}
