/** Names of the advisory locks of the service; the number is the lock's second key. */
export const ADVISORY_LOCKS = {
  migrations: 1,
  registry: 2,
  signingKeys: 3,
  cleaning: 4,
  idProviders: 5,
  catalogueTotals: 6,
  catalogueMoves: 7,
  demoCatalogue: 8,
  reaper: 9,
  slurm: 10,
  homeless: 11,
} as const;

/** Name of an advisory lock. */
export type AdvisoryLock = keyof typeof ADVISORY_LOCKS;

/** First key of every lock of the service, so that other users of the database do not meet it. */
export const LOCK_SPACE = 0x67726964;
