import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#src/kernel/index.js';
import { CLOCK, CONFIG, type Config } from '#src/platform/index.js';
import type { RegistrySnapshot } from '#src/registry/index.js';
import type { Owned, Shares, ShareUse } from './fair-share.js';
import { SharesRepository, type StoredShare } from './shares.repository.js';

/** What was read of the database is good for so long. */
const FRESH_MS = 1_000;

/** Processors that this instance has given away. */
interface Gift extends Owned {
  processors: number;
  at: number;
}

/** What everybody has had, as this instance knows it: what is stored, and what it has given away since. */
@Injectable()
export class ShareBook {
  private stored: readonly StoredShare[] = [];
  private readAt = -Infinity;
  private gifts: Gift[] = [];

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
    const given = this.gifts.map(({ owner, ownerGroup, processors }) => ({
      ...{ owner, ownerGroup },
      used: 0,
      held: processors,
    }));
    return { uses: [...uses, ...given], weightOf: (group) => registry.weightOf(group) };
  }

  /** Jobs have been given to sites. */
  gave(jobs: readonly (Owned & { processors: number })[]): void {
    if (!this.config.shares) return;
    const at = this.clock.now();
    for (const { owner, ownerGroup, processors } of jobs) {
      this.gifts.push({ owner, ownerGroup, processors, at });
    }
  }

  private async read(now: number): Promise<void> {
    this.stored = await this.repository.read();
    this.readAt = now;
    const countedAt = Math.max(...this.stored.map(({ asOf }) => asOf.getTime()));
    this.gifts = this.gifts.filter(({ at }) => at >= countedAt && now - at < MOST_MS);
  }

  private useOf({ asOf, used, ...share }: StoredShare, now: number): ShareUse {
    const halfLives = Math.max(0, now - asOf.getTime()) / (this.config.shareHalfLife * 1000);
    return { ...share, used: used * 0.5 ** halfLives };
  }
}

/** Nobody has counted for so long: the jobs may have ended as well. */
const MOST_MS = 60_000;
