import { CreateRegistry1763600000001 } from './1763600000001-create-registry.js';

/**
 * All migrations in the order of their timestamps. They are append-only plain SQL, import no entity and run
 * forward under an advisory lock at start.
 */
export const MIGRATIONS: (new () => object)[] = [CreateRegistry1763600000001];
