import { Injectable } from '@nestjs/common';
import { Database } from '#src/platform/index.js';

/** Whose name a number stands for. */
export type NameKind = 'user' | 'group' | 'se';

/** A name and its number. */
export interface NameRow {
  id: number;
  kind: NameKind;
  name: string;
}

/** Owners, groups and storage elements as numbers. Rows are only ever added. */
@Injectable()
export class CatalogueNamesRepository {
  constructor(private readonly database: Database) {}

  /** All names. */
  async all(): Promise<NameRow[]> {
    return this.database.query<NameRow>({
      name: 'catalogue-names',
      text: 'select id, kind, name from catalogue_name',
    });
  }

  /** Numbers of the names; new ones are added, in a transaction of its own. */
  async ensure(kind: NameKind, names: string[]): Promise<NameRow[]> {
    const values = [kind, [...names].sort()];
    await this.database.execute({
      name: 'catalogue-names-add',
      text: `insert into catalogue_name (kind, name)
             select $1, n from unnest($2::text[]) n order by n on conflict do nothing`,
      values,
    });
    return this.database.query<NameRow>({
      name: 'catalogue-names-find',
      text: 'select id, kind, name from catalogue_name where kind = $1 and name = any($2)',
      values,
    });
  }
}
