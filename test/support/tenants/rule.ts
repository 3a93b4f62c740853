import type { Answer } from '../testbed.js';
import { outcomeOf, type Outcome } from './outcome.js';
import type { Call, Place } from './place.js';
import type { Verdicts } from './verdicts.js';

/** What is expected of one operation that needs a bearer token. */
export interface BearerExpectation {
  scope: string;
  call: (place: Place) => Call;
  /** What alice gets in the end. */
  own: Outcome;
  others: Verdicts;
  outcome: (answer: Answer, place: Place) => Outcome;
}

type Rule = Omit<BearerExpectation, 'outcome'> & Partial<Pick<BearerExpectation, 'outcome'>>;

/** An expectation whose outcomes are status and code unless told otherwise. */
export function rule({ outcome = outcomeOf, ...rest }: Rule): BearerExpectation {
  return { ...rest, outcome };
}
