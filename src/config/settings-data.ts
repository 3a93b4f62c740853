import * as v from './variables.js';

/** How the service speaks to storage elements. */
export const DATA = {
  storageCa: v.optional(
    'GRID_STORAGE_CA',
    'PEM file of CAs that may vouch for storage elements beside those that Node.js trusts',
    { defaultText: 'none' },
  ),
  storageTimeout: v.integer('GRID_STORAGE_TIMEOUT', 60, {
    min: 1,
    max: 3_600,
    description: 'Seconds that a storage element may be silent, before its answer and within it',
  }),
};
