import type { Outcome } from './outcome.js';

/** People with a good token to whom the place does not belong. */
export const OTHERS = [
  'groupMate',
  'otherGroup',
  'otherSetup',
  'monitor',
  'administrator',
  'manager',
  'monitorElsewhere',
  'administratorElsewhere',
  'managerElsewhere',
] as const;
export type Other = (typeof OTHERS)[number];

/** Outcomes in the order of OTHERS; `shared` with the defaults, `closed` where everybody sees only what is theirs. */
export interface Verdicts {
  shared: readonly Outcome[];
  closed: readonly Outcome[];
}

/** Three of them. */
export function three(outcome: Outcome): Outcome[] {
  return [outcome, outcome, outcome];
}

/** For the catalogue managers and those of the other virtual organisation, whose properties do not reach alice. */
export function four(outcome: Outcome): Outcome[] {
  return [...three(outcome), outcome];
}

export const LISTED: Verdicts = {
  shared: ['200 shown', '200 shown', '200 hidden', '200 shown', '200 shown', ...four('200 shown')],
  closed: [...three('200 hidden'), '200 shown', '200 shown', ...four('200 hidden')],
};
/** What somebody has used counts for all setups. */
export const SHARES: Verdicts = {
  shared: LISTED.shared.with(2, '200 shown'),
  closed: LISTED.closed.with(2, '200 shown'),
};
export const ANYBODY: Verdicts = {
  shared: OTHERS.map(() => '200'),
  closed: OTHERS.map(() => '200'),
};
export const SEEN: Verdicts = {
  shared: OTHERS.map(() => '200 shown'),
  closed: OTHERS.map((who) =>
    who === 'otherSetup' || who === 'manager' ? '200 shown' : '200 hidden',
  ),
};
