import type { MetadataCondition } from '../metadata/metadata-condition.js';
import { isFulfilled } from '../metadata/metadata-condition.js';
import type { MetadataField, StoredValue } from '../metadata/metadata-field.js';
import type { HiddenRanges, LabelRange } from '../totals/visible-part.repository.js';

/** All conditions of a request on one field. */
export interface FieldConditions {
  readonly field: MetadataField;
  readonly conditions: readonly MetadataCondition[];
}

/** How the segments of a field are found: through their values, or all of the field inside the range. */
export type SegmentAccess = 'value' | 'label';

/** One step of a plan. */
export interface MatchStep extends FieldConditions {
  readonly access: SegmentAccess;
  /** Segments that are read; Infinity when more than were counted. */
  readonly cost: number;
}

/**
 * How to find the directories that fulfil all conditions: the segments of `intersect` are read and intersected as
 * sets of ranges, those of `probe` are looked at only inside the ranges found so far. So the cost follows the most
 * selective condition and the answer, not the catalogue.
 */
export interface MatchPlan {
  readonly range: LabelRange;
  readonly wholeTree: boolean;
  readonly hidden: HiddenRanges | undefined;
  readonly intersect: readonly MatchStep[];
  readonly probe: readonly MatchStep[];
}

/**
 * Where plans change their way: up to `fewSegments` segments are read rather than probed, and more up to `fewTimes`
 * the first condition's; from `manyRanges` ranges on, all segments of a subtree are read at once instead of those of
 * each range; up to `firstRows` rows of an answer are read without a cursor. Only speed depends on them; tests lower
 * them to go every way on small trees.
 */
export const PLAN_LIMITS = {
  fewSegments: 4_000,
  fewTimes: 4,
  manyRanges: 4_000,
  firstRows: 4_000,
};

/** Puts the conditions of each field together. */
export function byField(conditions: readonly MetadataCondition[]): FieldConditions[] {
  const groups = new Map<number, FieldConditions & { conditions: MetadataCondition[] }>();
  for (const condition of conditions) {
    const group = groups.get(condition.field.id);
    if (group) group.conditions.push(condition);
    else groups.set(condition.field.id, { field: condition.field, conditions: [condition] });
  }
  return [...groups.values()];
}

/**
 * What is left to look for below a directory that has these values, set on it or above it: a condition that they
 * fulfil holds for the whole subtree, and one that they do not fulfil for nothing in it (undefined).
 */
export function conditionsLeft(
  groups: readonly FieldConditions[],
  chainValues: ReadonlyMap<number, StoredValue>,
): FieldConditions[] | undefined {
  const left: FieldConditions[] = [];
  for (const group of groups) {
    const value = chainValues.get(group.field.id);
    if (value === undefined) left.push(group);
    else if (!group.conditions.every((condition) => isFulfilled(condition, value)))
      return undefined;
  }
  return left;
}

/** How many segments each way to those of a field would read; Infinity when more than were counted. */
export interface SegmentCosts {
  readonly value: number;
  readonly label: number;
}

/** The steps for conditions with these costs; without costs the values are looked up. */
export function stepsOf(
  groups: readonly FieldConditions[],
  costs: readonly SegmentCosts[],
): MatchStep[] {
  return groups.map((group, index) => {
    const { value, label } = costs[index] ?? { value: 0, label: Infinity };
    const access: SegmentAccess = label < value ? 'label' : 'value';
    return { ...group, access, cost: Math.min(value, label) };
  });
}

/** Splits the steps into those that are read and those that are probed. */
export function arrange(steps: readonly MatchStep[]): Pick<MatchPlan, 'intersect' | 'probe'> {
  const sorted = [...steps].sort((a, b) => a.cost - b.cost);
  const first = sorted[0];
  if (!first) return { intersect: [], probe: [] };
  const { fewSegments, fewTimes } = PLAN_LIMITS;
  const bound = Math.max(fewSegments, first.cost === Infinity ? 0 : first.cost * fewTimes);
  return {
    intersect: sorted.filter((step, index) => index === 0 || step.cost <= bound),
    probe: sorted.filter((step, index) => index > 0 && step.cost > bound),
  };
}
