import { PlaceSegments1763600100081 } from './version-0.1.0.js';
import { Version0201764288000000 } from './version-0.2.0.js';

/**
 * A step for each release, oldest first: plain SQL that imports no entity and runs forward under an advisory lock at start. A step that
 * has been released is not changed any more.
 */
export const MIGRATIONS: (new () => object)[] = [
  PlaceSegments1763600100081,
  Version0201764288000000,
];
