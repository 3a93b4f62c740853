import { Injectable } from '@nestjs/common';
import type { Queryable } from '#src/database/index.js';
import { findFields } from './fields.repository.js';
import type { MetadataField } from './metadata-field.js';

/**
 * Fields that have been read once, by name. Another instance may have deleted or declared some since: whoever uses
 * a remembered field proves in the same snapshot that it still is so.
 */
@Injectable()
export class MetadataFieldCache {
  private readonly fields = new Map<string, MetadataField>();

  /** The remembered fields of all these names; undefined when one of them is not remembered. */
  known(names: readonly string[]): ReadonlyMap<string, MetadataField> | undefined {
    const found = new Map<string, MetadataField>();
    for (const name of names) {
      const field = this.fields.get(name);
      if (!field) return undefined;
      found.set(name, field);
    }
    return found;
  }

  /** Reads the fields of these names and remembers those that exist. */
  async read(source: Queryable, names: readonly string[]): Promise<Map<string, MetadataField>> {
    const found = await findFields(source, names);
    for (const name of names) {
      const field = found.get(name);
      if (field) this.fields.set(name, field);
      else this.fields.delete(name);
    }
    return found;
  }
}
