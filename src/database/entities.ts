import { getMetadataArgsStorage } from 'typeorm';
import { SnakeNamingStrategy } from './snake-naming-strategy.js';

/** A class with `@Entity`. */
export type EntityClass = new () => object;

const NAMES = new SnakeNamingStrategy();

/** Every entity class of the modules that have been imported; modules make repositories of them by `forFeature`. */
export function registeredEntities(): EntityClass[] {
  return getMetadataArgsStorage().tables.map(({ target }) => target as EntityClass);
}

/** A column of an entity. */
export interface EntityColumn<E extends object> {
  property: keyof E & string;
  /** Its name in the table. */
  name: string;
  /** PostgreSQL's type, as the entity names it. */
  type: string;
  isNullable: boolean;
  isPrimary: boolean;
}

/** The columns of an entity and of the classes that it extends, in the order in which they are declared. */
export function entityColumns<E extends object>(entity: new () => E): EntityColumn<E>[] {
  const tree: unknown[] = [];
  for (let one: unknown = entity; one !== Function.prototype; one = Object.getPrototypeOf(one)) {
    tree.push(one);
  }
  const columns = getMetadataArgsStorage().filterColumns(tree as EntityClass[]);
  return columns.map(({ propertyName, options }) => ({
    property: propertyName as keyof E & string,
    name: NAMES.columnName(propertyName, options.name, []),
    type: `${String(options.type)}${options.array ? '[]' : ''}`,
    isNullable: options.nullable ?? false,
    isPrimary: options.primary ?? false,
  }));
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
  const wanted = entityColumns(entity)
    .filter(({ property }) => only === undefined || only.includes(property))
    .map(({ property, name }) =>
      name === property ? `${before}${name}` : `${before}${name} as "${property}"`,
    );
  if (wanted.length === 0) throw new Error(`${entity.name} has no such column`);
  return wanted.join(', ');
}
