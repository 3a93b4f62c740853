import { Injectable } from '@nestjs/common';
import { Problem } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { CataloguePolicy, type Actor } from '../access/catalogue.policy.js';
import {
  bindConditions,
  type MetadataCondition,
  type RawCondition,
} from '../metadata/metadata-condition.js';
import { MetadataFieldCache } from '../metadata/metadata-field-cache.js';
import type { MetadataField } from '../metadata/metadata-field.js';
import {
  readFewMatches,
  type FewMatches,
  type FewQuestion,
  type ValueWanted,
} from './few-matches.repository.js';

/** Conditions of a search that goes together with others. */
const MOST_CONDITIONS = 4;

/** Searches for single values that find few directories, many requests with one statement. */
@Injectable()
export class FewMatchesReader {
  private readonly read: (question: FewQuestion) => Promise<FewMatches | undefined>;

  constructor(
    database: Database,
    private readonly policy: CataloguePolicy,
    private readonly fields: MetadataFieldCache,
  ) {
    this.read = database.batchedReads((questions: FewQuestion[]) =>
      readFewMatches(database, questions),
    );
  }

  /** The answer, if it can be found this way; otherwise the search has to be made alone, whatever the reason. */
  async find(
    actor: Actor,
    { path, conditions }: { path: string; conditions: readonly RawCondition[] },
  ): Promise<FewMatches | undefined> {
    const reach = this.policy.reach(actor, path);
    if (reach === 'nothing' || (reach === 'bits' && !mayBeOpen(actor, path))) return undefined;
    const wanted = this.wantedOf(conditions);
    if (!wanted) return undefined;
    if (reach === 'everything') return this.read({ path, wanted });
    return this.read({ path, wanted, opened: path === '/' ? [...actor.opened].sort() : [] });
  }

  private wantedOf(conditions: readonly RawCondition[]): ValueWanted[] | undefined {
    if (conditions.length === 0 || conditions.length > MOST_CONDITIONS) return undefined;
    const names = [...new Set(conditions.map(({ key }) => key))];
    const known = this.fields.known(names);
    if (!known || names.length < conditions.length) return undefined;
    const bound = boundOrNothing(conditions, known);
    return bound?.every(isForOneValue)
      ? bound.map(({ field, operands: [value = ''] }) => ({ field, value }))
      : undefined;
  }
}

/** Where bits decide beside the own virtual organisation they usually keep nobody out; nothing may be closed otherwise. */
function mayBeOpen({ opened, closed }: Actor, path: string): boolean {
  return opened.size > 0 && (path !== '/' || closed.size === 0);
}

function isForOneValue({ operator, operands }: MetadataCondition): boolean {
  return operator === '=' || (operator === 'in' && operands.length === 1);
}

/** The conditions on these fields; undefined when they do not fit them, which newer fields may do. */
export function boundOrNothing(
  conditions: readonly RawCondition[],
  fields: ReadonlyMap<string, MetadataField>,
): MetadataCondition[] | undefined {
  try {
    return bindConditions(conditions, fields);
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
