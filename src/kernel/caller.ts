import { AsyncLocalStorage } from 'node:async_hooks';

/** Whose request the running code serves. */
export interface Caller {
  /** What its work counts for; undefined while that is not known. */
  key: string | undefined;
  /** The request may change something, and has used the database: what it has begun is to be finished. */
  hasBegun: boolean;
  /** The request may change something. */
  readonly mayChange: boolean;
  /** Uses of the database under way, and the permits that they share. */
  uses: number;
  permits: (() => void)[];
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

const storage = new AsyncLocalStorage<Caller | undefined>();

/** The caller of the request that the running code serves; undefined for work of the service itself. */
export function currentCaller(): Caller | undefined {
  return storage.getStore();
}

/** Runs the work for the caller: all that it begins counts for them. */
export function runFor<T>(caller: Caller, work: () => T): T {
  return storage.run(caller, work);
}

/**
 * Runs work that many requests wait for, or that goes on after the one that has begun it, for no caller: nobody waits in the queue
 * of another caller.
 */
export function runForAll<T>(work: () => T): T {
  return storage.getStore() ? storage.run(undefined, work) : work();
}
