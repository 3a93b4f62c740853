import type { JobLimits, RegistrySnapshot } from '#src/registry/index.js';

/** Whose jobs, in which group. */
export interface LimitedOwner {
  owner: string;
  ownerGroup: string;
}

/** One limit that jobs of an owner come under, together with all others of the same `key`. */
export interface OwnerLimit extends JobLimits {
  key: string;
  /** For people: `group atlas`. */
  name: string;
}

/** Jobs of an owner in a group that are counted. */
export interface OwnerCount extends LimitedOwner {
  jobs: number;
}

/** What limits are read of. */
export type LimitSource = Pick<RegistrySnapshot, 'group' | 'userByName'>;

/** The limits of an owner's jobs in a group: of the group, of each owner in it, and of the user in all groups. */
export function limitsOf({ owner, ownerGroup }: LimitedOwner, source: LimitSource): OwnerLimit[] {
  const group = source.group(ownerGroup)?.limits;
  const user = source.userByName(owner)?.limits;
  const limits: OwnerLimit[] = [];
  if (group) {
    const { running, waiting, ownerRunning, ownerWaiting } = group;
    limits.push(limit('group', [ownerGroup], `group ${ownerGroup}`, { running, waiting }));
    const each = { running: ownerRunning, waiting: ownerWaiting };
    limits.push(limit('owner', [ownerGroup, owner], `${owner} in group ${ownerGroup}`, each));
  }
  if (user) limits.push(limit('user', [owner], `user ${owner}`, user));
  return limits;
}

/** Adds jobs up by the keys of limits. */
export class LimitTally {
  private readonly counts = new Map<string, number>();

  constructor(counted: readonly OwnerCount[] = []) {
    for (const { jobs, ...owned } of counted) this.add(owned, jobs);
  }

  add({ owner, ownerGroup }: LimitedOwner, jobs: number): void {
    const keys = [
      keyOf('group', [ownerGroup]),
      keyOf('owner', [ownerGroup, owner]),
      keyOf('user', [owner]),
    ];
    for (const key of keys) this.counts.set(key, this.of({ key }) + jobs);
  }

  /** Jobs that come under the limit. */
  of({ key }: Pick<OwnerLimit, 'key'>): number {
    return this.counts.get(key) ?? 0;
  }
}

type Kind = 'group' | 'owner' | 'user';

function limit(
  kind: Kind,
  of: readonly string[],
  name: string,
  { running, waiting }: { running?: number | undefined; waiting?: number | undefined },
): OwnerLimit {
  return {
    key: keyOf(kind, of),
    name,
    ...(running !== undefined && { running }),
    ...(waiting !== undefined && { waiting }),
  };
}

function keyOf(kind: Kind, of: readonly string[]): string {
  return JSON.stringify([kind, ...of]);
}
