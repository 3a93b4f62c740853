import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import type { RegistrySnapshot } from '#src/registry/index.js';
import type { Owned, Shares, ShareUse } from './fair-share.js';
import { SharesRepository, type StoredShare } from './shares.repository.js';

/** What was read of the database is good for so long. */
const FRESH_MS = 1_000;

/** Processors that an owner was given. */
interface Given extends Owned {
  held: number;
}

/** What this instance gave an owner at once. */
interface Gift extends Given {
  at: number;
}

/** What everybody has had, as this instance knows it: what is stored, and what it has given away since. */
@Injectable()
export class ShareBook {
  private stored: readonly StoredShare[] = [];
  private readAt = -Infinity;
  private gifts: Gift[] = [];
  private given = new Sums();

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly repository: SharesRepository,
  ) {}

  /** Undefined when places are not shared. */
  async current(registry: RegistrySnapshot): Promise<Shares | undefined> {
    if (!this.config.shares) return undefined;
    const now = this.clock.now();
    if (Math.abs(now - this.readAt) >= FRESH_MS) await this.read(now);
    const uses = this.stored.map((share) => this.useOf(share, now));
    const given = [...this.given.all].map((gift) => ({ ...gift, used: 0 }));
    return { uses: [...uses, ...given], weightOf: (group) => registry.weightOf(group) };
  }

  /** Jobs have been given to sites. */
  gave(jobs: readonly (Owned & { processors: number })[]): void {
    if (!this.config.shares) return;
    const at = this.clock.now();
    const sums = new Sums();
    for (const { owner, ownerGroup, processors } of jobs) {
      sums.add({ owner, ownerGroup, held: processors });
    }
    for (const sum of sums.all) {
      this.gifts.push({ ...sum, at });
      this.given.add(sum);
    }
  }

  private async read(now: number): Promise<void> {
    this.stored = await this.repository.read();
    this.readAt = now;
    const countedAt = Math.max(...this.stored.map(({ asOf }) => asOf.getTime()));
    this.gifts = this.gifts.filter(({ at }) => at >= countedAt && now - at < MOST_MS);
    this.given = new Sums();
    for (const { owner, ownerGroup, held } of this.gifts) {
      this.given.add({ owner, ownerGroup, held });
    }
  }

  private useOf({ asOf, used, ...share }: StoredShare, now: number): ShareUse {
    const halfLives = Math.max(0, now - asOf.getTime()) / (this.config.shareHalfLife * 1000);
    return { ...share, used: used * 0.5 ** halfLives };
  }
}

/** Nobody has counted for so long: the jobs may have ended as well. */
const MOST_MS = 60_000;

/** What owners were given, all in all: a claim looks at each owner once, however many jobs were given away. */
class Sums {
  private readonly byOwner = new Map<string, Given>();

  get all(): Iterable<Given> {
    return this.byOwner.values();
  }

  add(given: Given): void {
    const key = JSON.stringify([given.ownerGroup, given.owner]);
    const sum = this.byOwner.get(key);
    if (sum) sum.held += given.held;
    else this.byOwner.set(key, { ...given });
  }
}
