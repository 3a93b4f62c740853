import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { OAuthProblem, callerNetwork } from '#src/kernel/index.js';
import { CONFIG, type Config } from '#src/config/index.js';
import { clientAddressOf, type HttpRequest } from '#src/http/index.js';

/** Requests of an address that are limited. */
export type Limit = 'token' | 'authorize';

/** Wrong user codes that one user may type in ten minutes (RFC 8628 §5.1). */
const USER_CODES = { points: 20, seconds: 600 };

/**
 * Limits of requests a second, per instance and in memory: they protect one process from one busy caller. What is
 * over the limit gets 429 with Retry-After.
 */
@Injectable()
export class RateLimits {
  private readonly limiters: Record<Limit | 'userCode' | 'secret', RateLimiterMemory | undefined>;

  constructor(@Inject(CONFIG) config: Config) {
    this.limiters = {
      token: limiter(config.rateToken, 1),
      authorize: limiter(config.rateAuthorize, 1),
      userCode: limiter(USER_CODES.points, USER_CODES.seconds),
      secret: limiter(config.rateToken, 1),
    };
  }

  /** Counts one request of the address; of version 6 those of its network of 64 bits together. Throws 429. */
  async count(limit: Limit, request: HttpRequest): Promise<void> {
    await this.consume(limit, this.callerOf(request));
  }

  /** Counts one request of the application, which has proved to be this one. Throws 429. */
  async countClient(limit: Limit, clientId: string): Promise<void> {
    await this.consume(limit, `client ${clientId}`);
  }

  /**
   * Throws 429 when the address has sent as many wrong secrets of the application within the second as it may ask for
   * tokens, before another one is looked at (RFC 6749 §2.3.1). It ends with the second: others may share the address,
   * and nobody shuts out an application with fewer requests than would use up the limit of the address.
   */
  async requireGuess(clientId: string, request: HttpRequest): Promise<void> {
    const detail = 'Too many wrong secrets of this application from your address';
    await this.requireSecret(this.guesserOf(clientId, request), detail);
  }

  /** Counts a wrong secret of the application. */
  async countGuess(clientId: string, request: HttpRequest): Promise<void> {
    await this.limiters.secret?.penalty(this.guesserOf(clientId, request));
  }

  /** The same of secrets of sites, whichever they are said to be of. Throws 429. */
  async requireSiteGuess(request: HttpRequest): Promise<void> {
    await this.requireSecret(
      this.siteGuesserOf(request),
      'Too many wrong secrets of sites from your address',
    );
  }

  /** Counts a wrong secret of a site. */
  async countSiteGuess(request: HttpRequest): Promise<void> {
    await this.limiters.secret?.penalty(this.siteGuesserOf(request));
  }

  /** Counts one user code that the user has typed: others at the same address may sign in their devices. Throws 429. */
  async countUserCode(user: string): Promise<void> {
    await this.consume('userCode', `user ${user}`);
  }

  /** Takes back one count of the user: the code was right. */
  async uncountUserCode(user: string): Promise<void> {
    await this.limiters.userCode?.reward(`user ${user}`);
  }

  private callerOf(request: HttpRequest): string {
    return `address ${callerNetwork(clientAddressOf(request))}`;
  }

  private guesserOf(clientId: string, request: HttpRequest): string {
    return `client ${clientId} from ${this.callerOf(request)}`;
  }

  private siteGuesserOf(request: HttpRequest): string {
    return `site from ${this.callerOf(request)}`;
  }

  private async requireSecret(guesser: string, detail: string): Promise<void> {
    const limiter = this.limiters.secret;
    const state = await limiter?.get(guesser);
    if (limiter && state && state.consumedPoints >= limiter.points) throw exceeded(state, detail);
  }

  private async consume(limit: Limit | 'userCode', key: string): Promise<void> {
    try {
      await this.limiters[limit]?.consume(key);
    } catch (state) {
      if (!(state instanceof RateLimiterRes)) throw state;
      throw exceeded(state);
    }
  }
}

function exceeded(
  { msBeforeNext }: RateLimiterRes,
  detail = 'Too many requests; try again later',
): OAuthProblem {
  return new OAuthProblem('temporarily_unavailable', detail, {
    status: 429,
    retryAfterSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)),
  });
}

function limiter(points: number, seconds: number): RateLimiterMemory | undefined {
  return points === 0 ? undefined : new RateLimiterMemory({ points, duration: seconds });
}
