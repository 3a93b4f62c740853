/** First key of the catalogue's advisory locks; the second is one of LOCKS. */
export const CATALOGUE_LOCKS = 0x67726963;

/** First key of the locks of metadata fields; the second is the field's number. */
export const FIELD_LOCKS = 0x67726966;

/**
 * Locks beside rows. Everybody takes them in this order, then fields by number, then rows.
 *
 * - `moves`: shared by every writer, alone while a subtree moves (labels and paths change).
 * - `totals`: shared by writers that change rows of directories, alone while pending totals are added to them.
 */
export const LOCKS = { moves: 1, totals: 2 } as const;
