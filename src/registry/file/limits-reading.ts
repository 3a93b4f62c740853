import type { GroupLimits, JobLimits, SiteLimits } from '../model/limits.js';
import type { DocumentNode } from './document-node.js';

const MOST = 1_000_000_000;

/** `limits` of a user; undefined when nothing is limited. */
export function readUserLimits(place: DocumentNode): JobLimits | undefined {
  const { running, waiting } = place.members(['running', 'waiting']);
  return limitsOf({ running: countOf(running), waiting: countOf(waiting) });
}

/** `limits` of a group; undefined when nothing is limited. */
export function readGroupLimits(place: DocumentNode): GroupLimits | undefined {
  const keys = ['running', 'waiting', 'ownerRunning', 'ownerWaiting'] as const;
  const { running, waiting, ownerRunning, ownerWaiting } = place.members(keys);
  return limitsOf({
    running: countOf(running),
    waiting: countOf(waiting),
    ownerRunning: countOf(ownerRunning),
    ownerWaiting: countOf(ownerWaiting),
  });
}

/** `limits` of a site; undefined when nothing is limited. */
export function readSiteLimits(place: DocumentNode): SiteLimits | undefined {
  const { running, waiting, tags } = place.members(['running', 'waiting', 'tags']);
  const perTag = tags.items().flatMap(([tag, one]) => {
    const count = countOf(one);
    return count === undefined ? [] : [[tag, count] as const];
  });
  return limitsOf({
    running: countOf(running),
    waiting: countOf(waiting),
    tags: perTag.length === 0 ? undefined : Object.fromEntries(perTag),
  });
}

/** 0 is a limit: nothing runs, or nothing is taken. */
function countOf(place: DocumentNode): number | undefined {
  return place.optionalCount({ min: 0, max: MOST });
}

function limitsOf<T extends object>(
  limits: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } | undefined {
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return given.length === 0
    ? undefined
    : (Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> });
}
