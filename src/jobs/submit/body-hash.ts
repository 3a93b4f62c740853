import { createHash } from 'node:crypto';
import { stringifyJson, type JsonObject } from '#src/kernel/index.js';
import type { ReceivedFile } from './multipart-reading.js';

/** Equal for the same manifests (whatever the order of their keys) with the same file contents, both arrays or neither. */
export class BodyHash {
  private readonly hash = createHash('sha256').update('[[');
  private separator = '';

  /** Takes the next manifest, as it was received. */
  add(manifest: JsonObject): void {
    this.hash.update(this.separator).update(stringifyJson(sorted(manifest)));
    this.separator = ',';
  }

  /** The hash of everything, hexadecimal. */
  digest(files: readonly ReceivedFile[], isArray: boolean): string {
    const named = files.map(({ name, hash }) => [name, hash]).sort();
    const array = isArray ? ',true' : '';
    return this.hash.update(`],${stringifyJson(named)}${array}]`).digest('hex');
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}
