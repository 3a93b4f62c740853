import type { Logger } from '#src/runtime/index.js';
import type { Executor, ExecutorSource } from '../run/executor.js';
import type { DispatchRepository } from './dispatch.repository.js';

const RETRY_MS = 10_000;

/** What is done with executors that come and go. */
export interface PlaceWork {
  started(executor: Executor): void;
  /** Resolves when nothing is asked of it any more. */
  stopped(executor: Executor): Promise<void>;
}

interface Place {
  executor: Executor;
  state: 'opening' | 'open' | 'closed' | 'closing';
  triedMs: number;
}

/**
 * Opens and closes executors as the registry says. Each by itself: one that takes its time, or cannot be opened, holds up
 * none of the others. One that takes the place of another begins when that one has ended.
 */
export class PlaceFollower {
  private readonly places = new Map<string, Place>();
  private isStopped = false;

  constructor(
    private readonly parts: {
      source: ExecutorSource;
      repository: Pick<DispatchRepository, 'recordUnusable'>;
      logger: Logger;
      instance: string;
    },
    private readonly work: PlaceWork,
  ) {}

  /** One look at what there should be; returns without waiting for what it begins. */
  async look(): Promise<void> {
    const wanted = new Map((await this.parts.source.current()).map((one) => [one.id, one]));
    if (this.isStopped) return;
    for (const place of this.places.values()) {
      if (wanted.get(place.executor.id) !== place.executor) this.end(place);
    }
    for (const [id, executor] of wanted) {
      const place = this.places.get(id);
      if (place === undefined) this.begin({ executor, state: 'opening', triedMs: Date.now() });
      else if (place.state === 'closed' && Date.now() - place.triedMs >= RETRY_MS)
        this.begin(place);
    }
  }

  /** Nothing is opened any more. */
  stop(): void {
    this.isStopped = true;
  }

  private begin(place: Place): void {
    const { executor } = place;
    place.state = 'opening';
    place.triedMs = Date.now();
    this.places.set(executor.id, place);
    void this.open(place).catch((error: unknown) => {
      place.state = 'closed';
      this.parts.logger.error({ err: error, executor: executor.id }, 'an executor is not opened');
    });
  }

  private async open(place: Place): Promise<void> {
    const { executor } = place;
    const isOpen = await executor.open();
    if (isOpen && !this.isStopped) {
      place.state = 'open';
      this.work.started(executor);
      return;
    }
    place.state = 'closed';
    if (isOpen) await executor.close();
    else await this.parts.repository.recordUnusable(executor, this.parts.instance);
  }

  private end(place: Place): void {
    const { executor, state } = place;
    if (state === 'opening' || state === 'closing') return; // at the next look
    if (state === 'closed') {
      this.places.delete(executor.id);
      return;
    }
    place.state = 'closing';
    void this.work
      .stopped(executor)
      .catch((error: unknown) => {
        this.parts.logger.error({ err: error, executor: executor.id }, 'an executor is not closed');
      })
      .finally(() => this.places.delete(executor.id));
  }
}
