import { createHmac } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { constantTimeEqual, type Clock, CLOCK } from '#src/kernel/index.js';
import { KeysService } from '../keys/keys.service.js';

const SLOT_SECONDS = 60;
/** Slots for which a nonce counts after its own, and before it, where an instance has a clock that is ahead. */
const SLOTS_AFTER = 4;
const SLOTS_BEFORE = 1;

/** Seconds for which a nonce counts at most. */
export const NONCE_SECONDS = SLOT_SECONDS * (1 + SLOTS_AFTER + SLOTS_BEFORE);

/**
 * Nonces of DPoP proofs (RFC 9449 §8): a minute and its authentication code, so that every instance knows those of the
 * others without asking anybody. The secret follows from the signing key; with a new key callers are told a new nonce.
 */
@Injectable()
export class DpopNonces {
  private secret: { kid: string; value: Buffer } | undefined;

  constructor(
    private readonly keys: KeysService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The nonce of this minute. Throws Problem 503 while there is no signing key. */
  async current(): Promise<string> {
    return this.nonceOf(this.slotNow());
  }

  /** Whether the nonce is one that was given out within the last minutes. */
  async isGood(nonce: string): Promise<boolean> {
    const slot = Number(/^(\d{1,12})\./.exec(nonce)?.[1] ?? Number.NaN);
    const now = this.slotNow();
    if (!(slot >= now - SLOTS_AFTER && slot <= now + SLOTS_BEFORE)) return false;
    return constantTimeEqual(nonce, await this.nonceOf(slot));
  }

  private slotNow(): number {
    return Math.floor(this.clock.now() / 1000 / SLOT_SECONDS);
  }

  private async nonceOf(slot: number): Promise<string> {
    const { kid, privateKey } = await this.keys.signingKey();
    if (this.secret?.kid !== kid) {
      const der = privateKey.export({ type: 'pkcs8', format: 'der' });
      this.secret = { kid, value: createHmac('sha256', der).update('dpop nonces').digest() };
    }
    const code = createHmac('sha256', this.secret.value).update(String(slot));
    return `${slot}.${code.digest('base64url')}`;
  }
}
