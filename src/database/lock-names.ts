/**
 * Every advisory lock of the service. PostgreSQL names a lock by two numbers of 32 bits, or by one of 64: the first number is a
 * space, so that other users of the database do not meet it, the second says which lock it is there.
 */
export const LOCK_SPACES = {
  /** One of ADVISORY_LOCKS. */
  named: 0x67726964,
  /** The hash of a text (`withKeyedLock`). */
  keyed: 0x67726965,
  /** One of CATALOGUE_LOCKS. */
  catalogue: 0x67726963,
  /** The number of a metadata field. */
  fields: 0x67726966,
  /** The number of a user who holds paths for bytes. */
  uploaders: 0x67726967,
} as const;

/** Names of locks that one instance holds for a task, or for a change of what all share. */
export const ADVISORY_LOCKS = {
  doctor: 0,
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
  unplaceable: 11,
  jobsFeed: 12,
  catalogueFeed: 13,
  feedCleaning: 14,
  webhooks: 20,
  webhookLimits: 21,
  shares: 24,
  usage: 25,
  dependencies: 27,
  workers: 28,
  auditCleaning: 40,
} as const;

/** Name of an advisory lock. */
export type AdvisoryLock = keyof typeof ADVISORY_LOCKS;

/**
 * Locks beside rows of the catalogue. Everybody takes them in this order, then fields by number, then rows.
 *
 * - `moves`: shared by every writer, alone while a subtree moves (labels and paths change).
 * - `totals`: shared by writers that change rows of directories, alone while pending totals are added to them.
 */
export const CATALOGUE_LOCKS = { moves: 1, totals: 2 } as const;

/** Seeds of the hashes that are locks of one number (`hashtextextended`): a text is another lock with another seed. */
export const LOCK_SEEDS = { idempotencyKeys: 7, queues: 8, limits: 9 } as const;
