import { Injectable } from '@nestjs/common';
import { runForAll } from '#src/kernel/index.js';
import type { CatalogueNameEntity, NameKind } from './catalogue-name.entity.js';
import { CatalogueNamesRepository } from './catalogue-names.repository.js';

/** The number of somebody whom the catalogue has never met. */
export const UNKNOWN_ID = -1;

/** Names of owners, groups and storage elements; what has been read once is kept, as it never changes. */
@Injectable()
export class CatalogueNames {
  private readonly names = new Map<number, string>();
  private readonly ids: Record<NameKind, Map<string, number>> = {
    user: new Map(),
    group: new Map(),
    se: new Map(),
  };
  private readonly adding = new Map<string, Promise<void>>();
  private reading: Promise<void> | undefined;

  constructor(private readonly repository: CatalogueNamesRepository) {}

  /** Makes every name of the numbers known to `nameOf`. */
  async load(ids: Iterable<number>): Promise<void> {
    for (const id of ids) {
      if (!this.names.has(id)) return this.refresh();
    }
  }

  /** The name of a number that `load` was asked for; empty for an unknown one. */
  nameOf(id: number): string {
    return this.names.get(id) ?? '';
  }

  /** The number of a name, UNKNOWN_ID when the catalogue has never met it. Adds nothing. */
  async find(kind: NameKind, name: string): Promise<number> {
    const known = this.ids[kind].get(name);
    if (known !== undefined) return known;
    await this.refresh();
    return this.ids[kind].get(name) ?? UNKNOWN_ID;
  }

  /** The number of a name that `ensure` was asked for. */
  known(kind: NameKind, name: string): number {
    return this.ids[kind].get(name) ?? UNKNOWN_ID;
  }

  /** Numbers of the names; unknown ones are added. */
  async ensure(kind: NameKind, names: Iterable<string>): Promise<ReadonlyMap<string, number>> {
    const known = this.ids[kind];
    const missing = [...new Set(names)].filter((name) => !known.has(name));
    if (missing.length > 0) await this.add(kind, missing);
    return known;
  }

  /** Many who need the same new names at once wait for one statement. */
  private async add(kind: NameKind, names: string[]): Promise<void> {
    const key = JSON.stringify([kind, ...names.sort()]);
    const adding =
      this.adding.get(key) ??
      runForAll(() => this.repository.ensure(kind, names))
        .then((rows) => this.keep(rows))
        .finally(() => this.adding.delete(key));
    this.adding.set(key, adding);
    return adding;
  }

  private async refresh(): Promise<void> {
    this.reading ??= runForAll(() => this.repository.all())
      .then((rows) => this.keep(rows))
      .finally(() => (this.reading = undefined));
    return this.reading;
  }

  private keep(rows: readonly CatalogueNameEntity[]): void {
    for (const { id, kind, name } of rows) {
      this.names.set(id, name);
      this.ids[kind].set(name, id);
    }
  }
}
