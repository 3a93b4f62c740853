import { Injectable } from '@nestjs/common';
import { NONCE_SECONDS } from './dpop-nonces.js';

const MAX_PROOFS = 200_000;

/** The proofs that this instance has seen as long as they count, or the last 200,000 of them. */
@Injectable()
export class RecentProofs {
  private before = new Set<string>();
  private now = new Set<string>();
  private since = -Infinity;

  /** False when the proof has been seen. */
  use(id: string, nowMs: number): boolean {
    if (nowMs - this.since > NONCE_SECONDS * 1000 || this.now.size >= MAX_PROOFS / 2) {
      this.before = this.now;
      this.now = new Set();
      this.since = nowMs;
    }
    if (this.now.has(id) || this.before.has(id)) return false;
    this.now.add(id);
    return true;
  }
}
