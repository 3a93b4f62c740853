import DataLoader from 'dataloader';
import { Problem, runForAll, type BoundedQueue } from '#src/kernel/index.js';

/** Keys of one statement at most. */
const MOST_KEYS = 200;

/**
 * Joins reads of single rows, or writes of single items, that come together into one statement: what waits at the end of a pass of
 * the event loop goes together, and what comes while all permits of the queue are in use goes with the next statement. A row is
 * never older than the question for it. A statement that fails as a whole, for which `run` must have left nothing, is done again
 * for each key alone, since one of them may have caused it; a Problem is for all. The callers of all keys share the statements,
 * which count for none of them.
 *
 * The answered function gives the value of the key, undefined when there is none; to be read only, since others may get the same.
 */
export function batched<Key, Value>(
  queue: BoundedQueue,
  run: (keys: Key[]) => Promise<Map<Key, Value>>,
): (key: Key) => Promise<Value | undefined> {
  let refusal: Error | undefined;
  const begin = async (dispatch: () => void): Promise<void> => {
    try {
      if (!queue.tryAcquire()) await queue.acquire();
    } catch (error) {
      refusal = error as Error; // for all that wait for this statement
    }
    dispatch();
  };
  const loader = new DataLoader<Key, Value | undefined>(
    async (keys) => {
      if (refusal !== undefined) {
        const error = refusal;
        refusal = undefined;
        throw error;
      }
      try {
        return await valuesOf([...keys], run);
      } finally {
        queue.release();
      }
    },
    {
      cache: false,
      maxBatchSize: MOST_KEYS,
      batchScheduleFn: (dispatch) =>
        runForAll(() => {
          setImmediate(() => void begin(dispatch));
        }),
    },
  );
  return (key) => loader.load(key);
}

async function valuesOf<Key, Value>(
  keys: Key[],
  run: (keys: Key[]) => Promise<Map<Key, Value>>,
): Promise<(Value | undefined | Error)[]> {
  try {
    const values = await run([...new Set(keys)]);
    return keys.map((key) => values.get(key));
  } catch (error) {
    if (keys.length === 1 || error instanceof Problem) throw error;
    const alone: (Value | undefined | Error)[] = [];
    for (const key of keys) {
      alone.push(...(await valuesOf([key], run).catch((fault: unknown) => [fault as Error])));
    }
    return alone;
  }
}
