import {
  limitsOf,
  LimitTally,
  type LimitedOwner,
  type LimitSource,
  type OwnerCount,
  type OwnerLimit,
} from './owner-limits.js';

/** Which owners may get more jobs to run, counted on as places are given away. */
export class RunningLimits {
  private readonly limits = new Map<string, readonly OwnerLimit[]>();

  constructor(
    private readonly source: LimitSource | undefined,
    private tally = new LimitTally(),
  ) {}

  /** Tells how many jobs sites hold now, by all instances. */
  note(held: readonly OwnerCount[]): void {
    this.tally = new LimitTally(held);
  }

  /** True when the running jobs of the owner come under a limit. */
  isLimited(owned: LimitedOwner): boolean {
    return this.of(owned).length > 0;
  }

  /** The limit that is reached; undefined when the owner may get one more. */
  reached(owned: LimitedOwner): OwnerLimit | undefined {
    return this.of(owned).find((limit) => this.tally.of(limit) >= (limit.running ?? Infinity));
  }

  /** A place was given away. */
  take({ owner, ownerGroup }: LimitedOwner): void {
    this.tally.add({ owner, ownerGroup }, 1);
  }

  private of(owned: LimitedOwner): readonly OwnerLimit[] {
    const { source } = this;
    if (!source) return [];
    const key = JSON.stringify([owned.ownerGroup, owned.owner]);
    let limits = this.limits.get(key);
    if (!limits) {
      limits = limitsOf(owned, source).filter(({ running }) => running !== undefined);
      this.limits.set(key, limits);
    }
    return limits;
  }
}
