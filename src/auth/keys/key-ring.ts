import type { OnModuleDestroy } from '@nestjs/common';
import type { JWK } from 'jose';
import { Problem, runForAll, type Clock } from '#src/kernel/index.js';
import type { Audit, AuditOrigin } from '#src/audit/index.js';
import { openVault, type Config, type KeyVault } from '#src/config/index.js';
import type { ChangeFeed, Transaction } from '#src/database/index.js';
import type { Logger, Scheduler } from '#src/runtime/index.js';
import { activationOf, deadKeys, isRotationDue, nextKey, signingKeyAt } from './key-schedule.js';
import { makeSigningKey, openSigningKey, type SigningKey } from './signing-key.js';
import type { SigningAlgorithm } from './stored-key.js';
import { SIGNING_KEYS_CHANNEL, type SigningKeysRepository } from './signing-keys.repository.js';

const MAINTENANCE_INTERVAL_MS = 60_000;
const RETRY_MS = 1_000;
const RELOAD_PAUSE_MS = 1_000;

/** Who has let other keys sign. */
type RotationWay = 'command' | 'request' | 'schedule';

/** A signing key as administrators see it. */
export interface KeyReport {
  kid: string;
  algorithm: string;
  state: 'next' | 'scheduled' | 'signing' | 'retired';
  createdAt: string;
  activeFrom?: string;
}

/** What differs between rings of keys. */
export interface KeyRingOptions {
  /** Name of the task that looks after them. */
  task: string;
  /** Algorithm of new keys. */
  algorithm: (config: Config) => SigningAlgorithm;
}

/**
 * Keys that sign in turns, shared by all instances. A next key is always published before it is used,
 * and an old one stays published until its last token is dead, so that no moment of a rotation refuses a token.
 */
export abstract class KeyRing implements OnModuleDestroy {
  private keys: readonly SigningKey[] = [];
  private isStale = true;
  private reading: Promise<void> | undefined;
  private lastReload = -Infinity;
  private readonly stopListening: () => void;

  protected constructor(
    private readonly options: KeyRingOptions,
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly repository: SigningKeysRepository,
    private readonly audit: Audit,
    private readonly scheduler: Scheduler,
    feed: ChangeFeed,
  ) {
    this.stopListening = feed.listen(SIGNING_KEYS_CHANNEL, () => (this.isStale = true));
  }

  onModuleDestroy(): void {
    this.stopListening();
  }

  /** Looks after the keys from now on; the first time at once when asked. */
  protected keepUp(firstMs?: number): void {
    this.scheduler.add({
      name: this.options.task,
      ...(firstMs !== undefined && { firstMs }),
      everyMs: MAINTENANCE_INTERVAL_MS,
      retryMs: RETRY_MS,
      jitter: 0.25,
      run: () => this.maintain(),
    });
  }

  /** Why no key signs; undefined when one does. */
  protected async whyNotReady(): Promise<string | undefined> {
    await this.load().catch(() => undefined);
    const now = this.clock.now();
    return signingKeyAt(this.keys, now) ? undefined : noKeyYet(this.keys, now);
  }

  /** The key that signs now. Throws Problem 503 while there is none. */
  async signingKey(): Promise<SigningKey> {
    if (this.isStale) await this.load();
    const key = signingKeyAt(this.keys, this.clock.now());
    if (!key) throw Problem.unavailable(noKeyYet(this.keys, this.clock.now()));
    return key;
  }

  /** The published key with this id; the database is asked once a second at most for an unknown one. */
  async publicKey(kid: string): Promise<SigningKey | undefined> {
    const known = this.keys.find((key) => key.kid === kid);
    if (known && !this.isStale) return known;
    if (this.isStale || this.clock.now() - this.lastReload > RELOAD_PAUSE_MS) await this.load();
    return this.keys.find((key) => key.kid === kid);
  }

  /** The public keys (RFC 7517), the next one included. */
  async publicKeys(): Promise<JWK[]> {
    if (this.isStale) await this.load();
    return this.keys.map((key) => key.publicJwk);
  }

  /**
   * Puts the next key into use and publishes another one. It starts at once when it has been published for ten
   * minutes, else when it will have been. Answers all keys.
   *
   * With `now`, for when keys have leaked, a new one signs at once and all others are forgotten, the next one included: what they
   * have signed is refused here, and elsewhere as soon as the key set is read again (300 s at most).
   */
  async rotate(now: boolean, origin?: AuditOrigin): Promise<KeyReport[]> {
    const way = origin ? 'request' : 'command';
    await this.locked(async (transaction) => {
      if (now) return this.replaceAll(transaction, way, origin);
      await this.ensureKeys(transaction);
      await this.startNext(transaction, way, origin);
    });
    return this.report();
  }

  /** All keys, oldest first. */
  async report(): Promise<KeyReport[]> {
    await this.load();
    const now = this.clock.now();
    const signing = signingKeyAt(this.keys, now);
    return this.keys.map((key) => ({
      kid: key.kid,
      algorithm: key.algorithm,
      state: stateOf(key, signing, now),
      createdAt: key.createdAt.toISOString(),
      ...(key.activeFrom && { activeFrom: key.activeFrom.toISOString() }),
    }));
  }

  /** One round of looking after the keys: first keys, due rotation, dead keys. */
  async maintain(): Promise<void> {
    await this.locked(async (transaction) => {
      const vault = await this.openVault();
      const now = this.clock.now();
      await this.ensureKeys(transaction);
      const keys = await this.repository.allIn(transaction);
      if (isRotationDue(keys, now, this.config.keyRotation)) {
        await this.startNext(transaction, 'schedule');
      }
      for (const key of deadKeys(keys, now)) await this.repository.remove(transaction, key.kid);
      for (const key of keys.filter(({ privateKey }) => vault.shouldReseal(privateKey))) {
        const sealed = vault.seal(key.kid, vault.open(key.kid, key.privateKey));
        await this.repository.reseal(transaction, key.kid, sealed);
      }
      await this.repository.noteTtl(transaction, this.config.accessTokenTtl);
    });
  }

  private async ensureKeys(transaction: Transaction): Promise<void> {
    const keys = await this.repository.allIn(transaction);
    if (!keys.some((key) => key.activeFrom)) {
      await this.addKey(transaction, new Date(this.clock.now()));
    }
    if (!nextKey(keys)) await this.addKey(transaction, null);
  }

  private async replaceAll(
    transaction: Transaction,
    way: RotationWay,
    origin?: AuditOrigin,
  ): Promise<void> {
    const activeFrom = new Date(this.clock.now());
    for (const { kid } of await this.repository.allIn(transaction)) {
      await this.repository.remove(transaction, kid);
    }
    const kid = await this.addKey(transaction, activeFrom);
    this.audit.done('keys.rotated', { kid, activeFrom, way }, origin);
    await this.addKey(transaction, null);
  }

  private async startNext(
    transaction: Transaction,
    way: RotationWay,
    origin?: AuditOrigin,
  ): Promise<void> {
    const keys = await this.repository.allIn(transaction);
    const next = nextKey(keys);
    const now = this.clock.now();
    if (next) {
      const activeFrom = activationOf(next, now);
      await this.repository.activate(transaction, next.kid, activeFrom);
      this.audit.done('keys.rotated', { kid: next.kid, activeFrom, way }, origin);
    }
    await this.addKey(transaction, null);
  }

  private async addKey(transaction: Transaction, activeFrom: Date | null): Promise<string> {
    const input = {
      algorithm: this.options.algorithm(this.config),
      now: new Date(this.clock.now()),
      activeFrom,
      ttlSeconds: this.config.accessTokenTtl,
    };
    const key = await makeSigningKey(input, await this.openVault());
    await this.repository.add(transaction, key);
    return key.kid;
  }

  private async locked(work: (transaction: Transaction) => Promise<void>): Promise<void> {
    await this.repository.change(work);
    this.isStale = true;
    await this.load();
  }

  private openVault(): Promise<KeyVault> {
    return openVault(this.config, this.logger);
  }

  private async load(): Promise<void> {
    this.reading ??= runForAll(() => this.read()).finally(() => (this.reading = undefined));
    await this.reading;
  }

  private async read(): Promise<void> {
    this.isStale = false;
    try {
      const vault = await this.openVault();
      const known = new Map(this.keys.map((key) => [key.kid, key]));
      const stored = await this.repository.all();
      this.keys = stored.map((row) => {
        const key = known.get(row.kid) ?? openSigningKey(row, vault);
        return { ...key, activeFrom: row.activeFrom ?? undefined };
      });
      this.lastReload = this.clock.now();
    } catch (error) {
      this.isStale = true;
      if (this.keys.length === 0) throw error;
    }
  }
}

/** Keys of an installation that has run before sign already: only a clock that was set back says otherwise. */
function noKeyYet(keys: readonly SigningKey[], now: number): string {
  const [first] = keys.flatMap(({ activeFrom }) => activeFrom ?? []).sort((a, b) => +a - +b);
  if (!first) return 'There is no signing key yet';
  const times = `it is ${new Date(now).toISOString()} here, and the first signing key signs from ${first.toISOString()} on`;
  return `The clock of the server is wrong: ${times}. Set the clock`;
}

function stateOf(
  key: SigningKey,
  signing: SigningKey | undefined,
  now: number,
): KeyReport['state'] {
  if (!key.activeFrom) return 'next';
  if (key.activeFrom.getTime() > now) return 'scheduled';
  return key === signing ? 'signing' : 'retired';
}
