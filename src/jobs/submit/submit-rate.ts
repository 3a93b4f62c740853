import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { Problem } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';

/** Submits of one user in one second on one instance; a limit against runaway scripts, not a quota. */
@Injectable()
export class SubmitRate {
  private readonly limiter: RateLimiterMemory | undefined;

  constructor(@Inject(CONFIG) config: Config) {
    if (config.rateSubmit === 0) return;
    this.limiter = new RateLimiterMemory({ points: config.rateSubmit, duration: 1 });
  }

  /** Counts a submit. Throws Problem 429 when there were too many. */
  async count(user: string): Promise<void> {
    try {
      await this.limiter?.consume(user);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfterSeconds = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      throw new Problem('rate.limited', 'Too many submits in a second', { retryAfterSeconds });
    }
  }
}
