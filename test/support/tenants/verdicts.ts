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
  'stranger',
] as const;
export type Other = (typeof OTHERS)[number];

/** Values of GRID_GLOBAL_JOBS and GRID_CATALOGUE_GLOBAL_READ together; `vo` is the default of both. */
export const MODES = ['true', 'vo', 'false'] as const;
export type Mode = (typeof MODES)[number];

/** Outcomes in the order of OTHERS, by what the settings say. */
export type Verdicts = Readonly<Record<Mode, readonly Outcome[]>>;

/** Three of them. */
export function three(outcome: Outcome): Outcome[] {
  return [outcome, outcome, outcome];
}

/** For those of the other virtual organisation, whose properties do not reach alice. */
export function elsewhere(outcome: Outcome): Outcome[] {
  return [...three(outcome), outcome];
}

/** The same, whatever the settings say. */
export function always(outcomes: readonly Outcome[]): Verdicts {
  return { true: outcomes, vo: outcomes, false: outcomes };
}

/** With `vo` the members of the virtual organisation read everything, and others what they would with `false`. */
export function openInVo(verdicts: Pick<Verdicts, 'true' | 'false'>): Verdicts {
  const isElsewhere = (index: number): boolean => index >= OTHERS.length - elsewhere('200').length;
  const vo = verdicts.true.map((open, index) =>
    isElsewhere(index) ? (verdicts.false[index] ?? open) : open,
  );
  return { ...verdicts, vo };
}

const IN_VO = ['200 shown', '200 shown', '200 hidden', ...three('200 shown')];
export const LISTED: Verdicts = {
  true: [...IN_VO, ...elsewhere('200 shown')],
  vo: [...IN_VO, ...elsewhere('200 hidden')],
  false: [
    ...[...three('200 hidden'), '200 shown', '200 shown', '200 hidden'],
    ...elsewhere('200 hidden'),
  ],
};
/** What somebody has used counts for all setups. */
export const SHARES: Verdicts = {
  true: LISTED.true.with(2, '200 shown'),
  vo: LISTED.vo.with(2, '200 shown'),
  false: LISTED.false.with(2, '200 shown'),
};
export const ANYBODY = always(OTHERS.map(() => '200'));
export const SEEN = openInVo({
  true: OTHERS.map(() => '200 shown'),
  false: OTHERS.map((who) =>
    who === 'otherSetup' || who === 'manager' ? '200 shown' : '200 hidden',
  ),
});
