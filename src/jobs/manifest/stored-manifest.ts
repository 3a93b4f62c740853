import { parseJson, stringifyJson } from '#src/kernel/index.js';
import type { JsonObject, JsonValue } from '#src/kernel/index.js';
import { fillTemplate, insertJobId } from './parametric.js';

/** What of a manifest stands in the rows of `job_descriptions d` and `job_templates t`, as JSON text. */
export interface ManifestRow {
  /** The whole manifest; of a job with a template only what it has for itself. */
  manifest: string;
  template: string | null;
  added: string | null;
  place_values: string | null;
}

/** Columns of a ManifestRow. */
export const MANIFEST_COLUMNS = `d.manifest::text as manifest, t.manifest::text as template,
  t.added::text as added, d.place_values::text as place_values`;

/** What follows `jobs j` in a query that reads MANIFEST_COLUMNS. */
export const MANIFEST_JOIN = `join job_descriptions d on d.jid = j.jid
  left join job_templates t on t.id = d.template`;

/** Puts the manifest of a job together: with the values of its place-holders and its id. */
export function manifestOf(row: ManifestRow, jid: number | bigint): JsonObject {
  const own = parseJson(row.manifest) as JsonObject;
  const whole =
    row.template === null
      ? own
      : {
          ...fillTemplate(
            parseJson(row.template) as JsonObject,
            parseJson(row.place_values ?? '{}') as Record<string, string>,
          ),
          ...(parseJson(row.added ?? '{}') as JsonObject),
          ...own,
        };
  return { ...insertJobId(whole, jid), JobID: jid };
}

/**
 * What the jobs of one template have in common once the rules of manifests have been applied, found by the first of
 * them: the template itself, and what the service adds to each job in the same way.
 */
export class SharedManifest {
  readonly template: JsonObject;
  readonly added: JsonObject;

  /** `filled` is the template with the values of a job, `finished` what the rules have made of it. */
  constructor(template: JsonObject, filled: JsonObject, finished: JsonObject) {
    this.template = pick(template, (key) => Object.hasOwn(finished, key));
    this.added = pick(finished, (key) => !isSame(finished[key], own(filled, key)));
  }

  /** What one job has for itself; mostly nothing. */
  ownOf(filled: JsonObject, finished: JsonObject): JsonObject {
    const shared = (key: string): JsonValue | undefined =>
      own(Object.hasOwn(this.added, key) ? this.added : filled, key);
    return pick(finished, (key) => !isSame(finished[key], shared(key)));
  }
}

function pick(object: JsonObject, isWanted: (key: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => isWanted(key)));
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isSame(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  return left !== undefined && right !== undefined && stringifyJson(left) === stringifyJson(right);
}
