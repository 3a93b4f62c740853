import type { Transaction } from '#src/database/index.js';
import { cursorRows, StatementText } from '../statements/catalogue-statements.repository.js';
import { matchedRanges } from '../matching/match.repository.js';
import { PLAN_LIMITS, type MatchPlan } from '../matching/match-plan.js';

/** A directory that was found, with its stored totals. */
export interface FoundDirectory {
  label: Buffer;
  path: string;
  files: number;
  bytes: string;
}

/**
 * The directories of a plan in depth-first order. Ordered ranges with one index scan each: a plain join makes the
 * planner walk the index of all directories. Only a long answer needs a cursor, for what comes after its first rows.
 */
export async function* readMatches(
  snapshot: Transaction,
  plan: MatchPlan,
): AsyncGenerator<FoundDirectory[]> {
  const text = new StatementText();
  const select = `
    with ${matchedRanges(text, plan)}
    select d.label, d.path, d.sub_files as files, d.sub_bytes as bytes
    from (select span from matched offset 0) m cross join lateral (
      select label, path, sub_files, sub_bytes from catalogue_directory
      where label >= lower(m.span) and label < upper(m.span) order by label offset 0) d`;
  const first = await snapshot.query<FoundDirectory>(
    text.statement(`${select} limit ${PLAN_LIMITS.firstRows}`),
  );
  yield first;
  if (first.length < PLAN_LIMITS.firstRows) return;
  yield* cursorRows<FoundDirectory>(snapshot, {
    text: `${select} offset ${PLAN_LIMITS.firstRows}`,
    values: text.values,
  });
}
