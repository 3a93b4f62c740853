import type { Transaction } from '#src/platform/index.js';
import type { Actor, CataloguePolicy } from '../catalogue.policy.js';
import { bindConditions, type RawCondition } from '../metadata/metadata-condition.js';
import { findFields } from '../metadata/fields.repository.js';
import { readableEnd } from '../namespace/directory-access.js';
import { readChain } from '../namespace/directory-chain.repository.js';
import { endOfSubtree } from '../path/label.js';
import type { LabelRange } from '../totals/visible-part.repository.js';
import { byField, conditionsLeft, type FieldConditions, type MatchPlan } from './match-plan.js';
import { planMatches, readChainValues } from './match.repository.js';

/** Where to look for what. */
export interface MatchRequest {
  path: string;
  conditions: readonly RawCondition[];
}

/** A start directory with the conditions that are not already decided above it. */
export interface MatchStart {
  range: LabelRange;
  wholeTree: boolean;
  /** Undefined when a value on the way to the start contradicts a condition: nothing below can match. */
  conditions: readonly FieldConditions[] | undefined;
}

/** Finds the start of a search. 400 for a bad condition, 403 and 404 for the start directory. */
export async function findStart(
  snapshot: Transaction,
  request: MatchRequest,
  reader: { actor: Actor; policy: CataloguePolicy },
): Promise<MatchStart> {
  const names = request.conditions.map(({ key }) => key);
  const groups = byField(bindConditions(request.conditions, await findFields(snapshot, names)));
  const chain = await readChain(snapshot, request.path);
  const directory = readableEnd(reader.policy, reader.actor, chain, request.path);
  const values =
    groups.length === 0
      ? new Map()
      : await readChainValues(
          snapshot,
          chain.map(({ id }) => id),
        );
  return {
    range: { lo: directory.label, hi: endOfSubtree(directory.label) },
    wholeTree: directory.parent === null,
    conditions: conditionsLeft(groups, values),
  };
}

/** How to read what matches below the start, without the hidden ranges; undefined when nothing can match. */
export async function planFrom(
  snapshot: Transaction,
  start: MatchStart,
  hidden: readonly LabelRange[],
): Promise<MatchPlan | undefined> {
  if (!start.conditions) return undefined;
  return planMatches(snapshot, start.conditions, {
    range: start.range,
    wholeTree: start.wholeTree,
    hidden,
  });
}
