import { readFile } from 'node:fs/promises';
import { SignJWT } from 'jose';
import type { Clock } from '#src/kernel/index.js';

const LIFE_SECONDS = 600;
const RENEW_SECONDS = 120;
/** Slurm refuses tokens of the future; the hosts' clocks may differ by that much. */
const SKEW_SECONDS = 30;
const MAX_KEPT = 1_000;

/** Where tokens for slurmrestd come from: given as they are, signed with Slurm's own key, or not needed at all. */
export interface SlurmTokenSettings {
  token?: string | undefined;
  /** File with the token; read again when it was refused, and every few minutes. */
  tokenFile?: string | undefined;
  keyFile?: string | undefined;
}

/** Tokens for slurmrestd (JWT, HS256, claims `sun`, `iat`, `exp`), one for each account, renewed before they end. */
export class SlurmTokens {
  private readonly kept = new Map<string, { token: string; renewAt: number }>();

  constructor(
    private readonly settings: SlurmTokenSettings,
    private readonly clock: Clock,
  ) {}

  /** A token of the account that is good for some minutes; undefined when none is configured (rest_auth/local). */
  async get(user: string): Promise<string | undefined> {
    const { token, tokenFile, keyFile } = this.settings;
    if (token !== undefined) return token;
    const now = Math.floor(this.clock.now() / 1000);
    const kept = this.kept.get(user);
    if (kept !== undefined && kept.renewAt > now) return kept.token;
    if (tokenFile === undefined && keyFile === undefined) return undefined;
    const made =
      keyFile === undefined
        ? (await readFile(tokenFile ?? '', 'utf8')).trim()
        : await signedFor(user, now, await readFile(keyFile));
    if (this.kept.size >= MAX_KEPT) this.kept.clear();
    this.kept.set(user, { token: made, renewAt: now + LIFE_SECONDS - RENEW_SECONDS });
    return made;
  }

  /** Forgets a token that was refused: the key may have been changed. */
  forget(user: string): void {
    this.kept.delete(user);
  }
}

async function signedFor(user: string, now: number, key: Uint8Array): Promise<string> {
  return new SignJWT({ sun: user })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt(now - SKEW_SECONDS)
    .setExpirationTime(now + LIFE_SECONDS)
    .sign(key);
}
