import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '#src/database/index.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import { MetadataFieldCache } from '../metadata/metadata-field-cache.js';
import { bindConditions, type RawCondition } from '../metadata/metadata-condition.js';
import type { MetadataField } from '../metadata/metadata-field.js';
import { readableEnd } from '../access/directory-access.js';
import { endOfSubtree } from '../path/label.js';
import { boundOrNothing } from './few-matches.service.js';
import type { ExactTotals } from '../totals/exact-totals.js';
import { visiblePart } from '../totals/visible-part.repository.js';
import {
  arrange,
  byField,
  conditionsLeft,
  PLAN_LIMITS,
  stepsOf,
  type FieldConditions,
  type MatchPlan,
} from './match-plan.js';
import {
  readCosts,
  readStart,
  type StartDirectory,
  type StartFacts,
} from './match-start.repository.js';

/** Where to look for what. */
export interface MatchRequest {
  path: string;
  conditions: readonly RawCondition[];
  /** Told from where on the feed tells what changes after the state that was searched. */
  onPosition?: (position: string) => void;
}

/** How to read what matches, and what makes its stored totals exact. */
export interface FoundPlan {
  plan: MatchPlan;
  totals: ExactTotals;
}

/** When every condition has many segments, a second look counts this many times more of them. */
const RECOUNT_FACTOR = 25;

/** Prepares searches: one snapshot, one statement for everything that must be known before, then the reading. */
@Injectable()
export class MatchFinder {
  constructor(
    private readonly database: Database,
    private readonly policy: CataloguePolicy,
    private readonly fields: MetadataFieldCache,
  ) {}

  /**
   * Reads with the plan of a request, on one snapshot; `read` is not called when nothing can match. 400 for a bad
   * condition, 404 for the start directory, before `read`.
   */
  async find(
    actor: Actor,
    request: MatchRequest & { withTotals: boolean },
    read: (snapshot: Transaction, found: FoundPlan) => Promise<void>,
  ): Promise<void> {
    await this.database.snapshot(async (snapshot) => {
      const { groups, facts } = await this.factsOf(snapshot, actor, request);
      const start = readableEnd(this.policy, actor, facts.chain, request.path);
      request.onPosition?.(facts.position);
      const { hidden, totals } = await visiblePart(facts.hidden, facts.pending);
      const place = {
        range: { lo: start.label, hi: endOfSubtree(start.label) },
        wholeTree: start.parent === null,
        hidden,
      };
      const steps = await this.stepsFor(snapshot, start, { groups, facts });
      if (steps) await read(snapshot, { plan: { ...place, ...steps }, totals });
    });
  }

  /** What fields are called and typed is remembered, and proved right by the statement that used it. */
  private async factsOf(
    snapshot: Transaction,
    actor: Actor,
    request: MatchRequest & { withTotals: boolean },
  ): Promise<{ groups: FieldConditions[]; facts: StartFacts }> {
    const names = [...new Set(request.conditions.map(({ key }) => key))];
    const readsAll = this.policy.reach(actor, request.path) === 'everything';
    const ask = async (groups: FieldConditions[]): Promise<StartFacts> =>
      readStart(snapshot, { ...request, actor, readsAll, names, groups });
    const known = this.fields.known(names);
    const bound = known && boundOrNothing(request.conditions, known);
    if (bound) {
      const guess = byField(bound);
      const facts = await ask(guess);
      if (areSame(known, facts.fields)) return { groups: guess, facts };
    }
    const fields = await this.fields.read(snapshot, names);
    const groups = byField(bindConditions(request.conditions, fields));
    return { groups, facts: await ask(groups) };
  }

  /** The steps to what matches; undefined when a value on the way contradicts a condition. */
  private async stepsFor(
    snapshot: Transaction,
    start: StartDirectory,
    { groups, facts }: { groups: readonly FieldConditions[]; facts: StartFacts },
  ): Promise<Pick<MatchPlan, 'intersect' | 'probe'> | undefined> {
    const left = conditionsLeft(groups, facts.values);
    if (!left) return undefined;
    const isLeft = groups.map((group) => left.includes(group));
    const steps = stepsOf(
      left,
      facts.costs.filter((_costs, index) => isLeft[index]),
    );
    if (steps.length === 0 || steps.some(({ cost }) => cost < Infinity)) return arrange(steps);
    const limit = PLAN_LIMITS.fewSegments * RECOUNT_FACTOR;
    return arrange(stepsOf(left, await readCosts(snapshot, left, { start, limit })));
  }
}

function areSame(
  known: ReadonlyMap<string, MetadataField>,
  now: ReadonlyMap<string, MetadataField>,
): boolean {
  for (const [name, { id, type }] of known) {
    const field = now.get(name);
    if (field?.id !== id || field.type !== type) return false;
  }
  return true;
}
