/** What the schedule knows of a key. */
export interface ScheduledKey {
  readonly kid: string;
  readonly createdAt: Date;
  readonly activeFrom?: Date | null | undefined;
  readonly longestTtlSeconds: number;
}

/** How long a key must have been published before it signs: twice the 300 s that the key set may be cached. */
export const PUBLICATION_LEAD_MS = 600_000;

// Clocks of instances and of those who check tokens differ a little.
const SLACK_MS = 120_000;

/** The key that signs now: the one in use since the latest moment. */
export function signingKeyAt<K extends ScheduledKey>(
  keys: readonly K[],
  now: number,
): K | undefined {
  return startedKeys(keys, now).at(-1);
}

/** The key that is published and will sign next. */
export function nextKey<K extends ScheduledKey>(keys: readonly K[]): K | undefined {
  return keys.find((key) => !key.activeFrom);
}

/** The moment at which the next key may start: at once when it has been published for long enough. */
export function activationOf(next: ScheduledKey, now: number): Date {
  return new Date(Math.max(now, next.createdAt.getTime() + PUBLICATION_LEAD_MS));
}

/** True when the youngest key in use (or about to be) is older than the rotation interval. */
export function isRotationDue(
  keys: readonly ScheduledKey[],
  now: number,
  rotationSeconds: number,
): boolean {
  const latest = Math.max(...keys.map((key) => key.activeFrom?.getTime() ?? -Infinity));
  return latest + rotationSeconds * 1000 <= now;
}

/** Keys of which every token is dead: replaced longer ago than their longest token lives. */
export function deadKeys<K extends ScheduledKey>(keys: readonly K[], now: number): K[] {
  const started = startedKeys(keys, now);
  return started.filter((key, place) => {
    const successor = started[place + 1];
    if (!successor?.activeFrom) return false;
    const lastTokenMs = successor.activeFrom.getTime() + key.longestTtlSeconds * 1000;
    return lastTokenMs + SLACK_MS < now;
  });
}

function startedKeys<K extends ScheduledKey>(keys: readonly K[], now: number): K[] {
  return keys
    .filter((key) => key.activeFrom && key.activeFrom.getTime() <= now)
    .sort((a, b) => Number(a.activeFrom) - Number(b.activeFrom));
}
