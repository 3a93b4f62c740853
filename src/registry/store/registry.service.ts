import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { runForAll } from '#src/kernel/index.js';
import { ChangeFeed } from '#src/database/index.js';
import { RegistryRepository, REGISTRY_CHANNEL } from './registry.repository.js';
import { RegistrySnapshot } from './registry-snapshot.js';

/**
 * Who exists, as a snapshot that is at most a notification old. While the change feed is down each call asks the
 * database for the registry's version, so a change is effective at once on every instance.
 */
@Injectable()
export class RegistryService implements OnModuleDestroy {
  private snapshot: RegistrySnapshot | undefined;
  private isFresh = false;
  private changes = 0;
  private reading: Promise<RegistrySnapshot> | undefined;
  private readonly stopListening: () => void;

  constructor(
    private readonly repository: RegistryRepository,
    private readonly feed: ChangeFeed,
  ) {
    this.stopListening = feed.listen(REGISTRY_CHANNEL, () => this.forget());
  }

  onModuleDestroy(): void {
    this.stopListening();
  }

  /** The registry as it is now when nobody has to be asked for it; undefined otherwise. */
  get known(): RegistrySnapshot | undefined {
    return this.isFresh && this.feed.live ? this.snapshot : undefined;
  }

  /** The registry as it is now. Throws Problem 503 while the database is away. */
  async current(): Promise<RegistrySnapshot> {
    const { known } = this;
    if (known) return known;
    if (!this.reading) {
      const reading = runForAll(() => this.refresh());
      this.reading = reading;
      void reading.catch(() => undefined).then(() => this.endOf(reading));
    }
    return this.reading;
  }

  /**
   * The registry as the database has it at this moment, for callers that miss somebody who may just have been added: a
   * notification takes its time. Costs one small question and disturbs nobody when nothing has changed. Throws Problem 503 while the database is away.
   */
  async renewed(): Promise<RegistrySnapshot> {
    const version = await this.repository.version();
    if (this.snapshot?.version === version) return this.snapshot;
    this.forget();
    return this.current();
  }

  /**
   * The registry as it was read last, for callers that cannot wait; begins to read it when it may be another by now.
   * Undefined before it was read for the first time.
   */
  latest(): RegistrySnapshot | undefined {
    if (!this.isFresh || !this.feed.live) void this.current().catch(() => undefined);
    return this.snapshot;
  }

  /** Makes the next question ask the database; called by the change feed and after own changes. */
  forget(): void {
    this.changes += 1;
    this.isFresh = false;
    this.reading = undefined; // a read under way may have seen the state before the change
  }

  private endOf(reading: Promise<RegistrySnapshot>): void {
    if (this.reading === reading) this.reading = undefined;
  }

  private async refresh(): Promise<RegistrySnapshot> {
    const seen = this.changes;
    const wasLive = this.feed.live;
    const version = await this.repository.version();
    const fresh = this.snapshot?.version === version ? this.snapshot : await this.repository.read();
    if (seen === this.changes) {
      this.snapshot = fresh;
      this.isFresh = wasLive && this.feed.live;
    }
    return fresh;
  }
}
