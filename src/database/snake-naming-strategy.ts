import { DefaultNamingStrategy, type NamingStrategyInterface, type Table } from 'typeorm';

/** `ownerGroup` → `owner_group`, `publicJWK2` → `public_jwk2`. */
export function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();
}

/**
 * Columns are the properties in snake case; constraints and indexes have the names that PostgreSQL gives them itself,
 * because the migrations leave their names to it.
 */
export class SnakeNamingStrategy extends DefaultNamingStrategy implements NamingStrategyInterface {
  override tableName(className: string, givenName: string | undefined): string {
    return givenName ?? snakeCase(className.replace(/Entity$/, ''));
  }

  override columnName(
    property: string,
    givenName: string | undefined,
    embeddedIn: string[],
  ): string {
    return [...embeddedIn.map(snakeCase), givenName ?? snakeCase(property)].join('_');
  }

  override joinColumnName(relation: string, referenced: string): string {
    return snakeCase(`${relation}_${referenced}`);
  }

  override joinTableColumnName(table: string, property: string, column?: string): string {
    return snakeCase(`${table}_${column ?? property}`);
  }

  override primaryKeyName(table: Table | string): string {
    return `${this.nameOf(table)}_pkey`;
  }

  override uniqueConstraintName(table: Table | string, columns: string[]): string {
    return `${this.nameOf(table)}_${columns.join('_')}_key`;
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    return `${this.nameOf(table)}_${columns.join('_')}_fkey`;
  }

  override indexName(table: Table | string, columns: string[]): string {
    return `${this.nameOf(table)}_${columns.join('_')}_idx`;
  }

  private nameOf(table: Table | string): string {
    return this.getTableName(table);
  }
}
