import { readFile } from 'node:fs/promises';
import { SignJWT } from 'jose';
import type { Clock } from '#src/kernel/index.js';

const LIFE_SECONDS = 600;
const RENEW_SECONDS = 120;
/** Slurm refuses tokens of the future; the hosts' clocks may differ by that much. */
const SKEW_SECONDS = 30;

/** Where tokens for slurmrestd come from: given as they are, signed with Slurm's own key, or not needed at all. */
export interface SlurmTokenSettings {
  user: string;
  token?: string | undefined;
  keyFile?: string | undefined;
}

/** Tokens for slurmrestd (JWT, HS256, claims `sun`, `iat`, `exp`), renewed before they end. */
export class SlurmTokens {
  private current: { token: string; renewAt: number } | undefined;

  constructor(
    private readonly settings: SlurmTokenSettings,
    private readonly clock: Clock,
  ) {}

  /** A token that is good for some minutes; undefined when none is configured (rest_auth/local). */
  async get(): Promise<string | undefined> {
    const { token, keyFile, user } = this.settings;
    if (token !== undefined) return token;
    if (keyFile === undefined) return undefined;
    const now = Math.floor(this.clock.now() / 1000);
    if (this.current === undefined || this.current.renewAt <= now) {
      const key = await readFile(keyFile);
      const signed = await new SignJWT({ sun: user })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(now - SKEW_SECONDS)
        .setExpirationTime(now + LIFE_SECONDS)
        .sign(key);
      this.current = { token: signed, renewAt: now + LIFE_SECONDS - RENEW_SECONDS };
    }
    return this.current.token;
  }

  /** Forgets a token that was refused: the key may have been changed. */
  forget(): void {
    this.current = undefined;
  }
}
