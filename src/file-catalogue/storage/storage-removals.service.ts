import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { type Clock, CLOCK, Problem } from '#src/kernel/index.js';
import { Database } from '#src/database/index.js';
import { hasAddress, RegistryService, removesBytes } from '#src/registry/index.js';
import { type Logger, LOGGER, Scheduler } from '#src/runtime/index.js';
import { CatalogueNames } from '../names/catalogue-names.service.js';
import { replicaEntries } from '../namespace/entry-json.js';
import { findFiles } from '../namespace/files.repository.js';
import {
  claimDue,
  findDue,
  forgetBytes,
  putOff,
  removeAgain,
  type RemovedBytes,
} from './bytes.repository.js';
import { ElementFault } from './element-fault.js';
import { StorageElements } from './storage-elements.js';

const EVERY_MS = 5_000;
/** Removed at once at an element. */
const MOST = 2;
/** Longer than any removal takes: bytes that one instance removes are due again so much later. */
const CLAIM_MS = 600_000;
const REMOVAL_MS = 300_000;
const MAX_PAUSE_MS = 3_600_000;
/** After the first removal of bytes that had not arrived, whoever was let in is in no longer. */
const LATE_MS = 3_720_000;
const SAID_EVERY_MS = 3_600_000;

const NO_ADDRESS =
  'has no address: add it to the registry again, with removes: false if its bytes are to stay';

/** An element that does not answer: nothing is removed there before then. */
interface Pause {
  until: number;
  tries: number;
}

/**
 * The one place that removes bytes from storage elements: those that did not arrive in time, and those whose file has gone. Tried for
 * ever; the path is free when the storage has said that they are gone. Each element is worked at for itself: one that hangs keeps no other
 * from its work.
 */
@Injectable()
export class StorageRemovals implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly working = new Map<number, Promise<void>>();
  private readonly pauses = new Map<number, Pause>();
  /** When a fault of an element was last logged. */
  private readonly said = new Map<string, number>();
  private readonly end = new AbortController();

  constructor(
    private readonly database: Database,
    private readonly scheduler: Scheduler,
    private readonly registry: RegistryService,
    private readonly names: CatalogueNames,
    private readonly elements: StorageElements,
    private readonly audit: Audit,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const name = 'catalogue.removals';
    this.scheduler.add({ name, everyMs: EVERY_MS, run: () => this.begin() });
  }

  async onModuleDestroy(): Promise<void> {
    this.end.abort(new Error('stopped'));
    await Promise.all(this.working.values());
  }

  /** Begins at the elements where something is to be done, and waits for none of them. */
  private async begin(): Promise<void> {
    const due = await findDue(this.database, new Date(this.clock.now()));
    await this.names.load(due);
    for (const seId of due) {
      if (this.working.has(seId) || this.rests(seId)) continue;
      const work = this.removeAt(seId)
        .catch((error: unknown) => this.say(seId, (error as Error).message))
        .finally(() => this.working.delete(seId));
      this.working.set(seId, work);
    }
  }

  private rests(seId: number): boolean {
    return this.end.signal.aborted || (this.pauses.get(seId)?.until ?? 0) > this.clock.now();
  }

  private async removeAt(seId: number): Promise<void> {
    while (!this.rests(seId)) {
      const now = this.clock.now();
      const times = { now: new Date(now), until: new Date(now + CLAIM_MS) };
      const claimed = await claimDue(this.database, { seId, ...times, most: MOST });
      await Promise.all(claimed.map((bytes) => this.remove(bytes)));
      if (claimed.length < MOST) return;
    }
  }

  private async remove(bytes: RemovedBytes): Promise<void> {
    const { id, path, se_id: seId, removals, tries } = bytes;
    const se = this.names.nameOf(seId);
    try {
      const element = (await this.registry.current()).storageElement(se);
      const stays = removals === 0 || (element && !removesBytes(element));
      if (stays || (await this.areOfFile(bytes))) {
        await forgetBytes(this.database, id);
        return;
      }
      if (!element || !hasAddress(element)) throw new Error(`${se} ${NO_ADDRESS}`);
      const signal = AbortSignal.any([this.end.signal, AbortSignal.timeout(REMOVAL_MS)]);
      await this.elements.remove(element, path, signal);
      this.pauses.delete(seId);
      const next = new Date(this.clock.now() + LATE_MS);
      if (removals > 1) await removeAgain(this.database, { id, next });
      else await forgetBytes(this.database, id);
      this.audit.done('catalogue.bytes-removed', { path, se });
    } catch (error) {
      if (this.end.signal.aborted) return;
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      const seconds = REMOVAL_MS / 1_000;
      const fault = isLate ? `${se} does not answer in ${seconds} s` : textOf(error);
      await putOff(this.database, { id, next: this.after(pauseAfter(tries)), fault });
      this.say(seId, fault, path);
      if (isLate || (error instanceof ElementFault && error.kind === 'away')) this.pause(seId);
    }
  }

  /** Twice as long as the one before, unless that is still under way. */
  private pause(seId: number): void {
    if (this.rests(seId)) return;
    const { tries } = this.pauses.get(seId) ?? { tries: 0 };
    this.pauses.set(seId, { until: this.clock.now() + pauseAfter(tries), tries: tries + 1 });
  }

  private after(milliseconds: number): Date {
    return new Date(this.clock.now() + milliseconds);
  }

  private say(seId: number, fault: string, path?: string): void {
    const se = this.names.nameOf(seId);
    const key = `${se} ${fault}`;
    const now = this.clock.now();
    if ((this.said.get(key) ?? -Infinity) > now - SAID_EVERY_MS) return;
    for (const [other, at] of this.said) {
      if (at <= now - SAID_EVERY_MS) this.said.delete(other);
    }
    this.said.set(key, now);
    this.logger.warn({ se, path, fault }, 'bytes at a storage element could not be removed');
  }

  /** No file can have come meanwhile; if one has all the same, its bytes stay. */
  private async areOfFile({ path, se_id: seId }: RemovedBytes): Promise<boolean> {
    const file = (await findFiles(this.database, [path], 'replicas')).get(path);
    return file !== undefined && replicaEntries(file).some(([id]) => id === seId);
  }
}

function textOf(error: unknown): string {
  return error instanceof Problem ? error.detail : (error as Error).message;
}

function pauseAfter(tries: number): number {
  return Math.min(MAX_PAUSE_MS, EVERY_MS * 2 ** Math.min(tries, 20));
}
