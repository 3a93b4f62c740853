import { Pool } from 'undici';
import { isJsonObject, systemClock, type Clock } from '#src/kernel/index.js';
import { errorOfAnswer, SlurmError, type SlurmErrorEntry } from './slurm-error.js';
import { SlurmTokens } from './slurm-token.js';

const VERSION = 'v0.0.38';
const CONNECTIONS = 8;

/** A JSON object that slurmrestd answered; empty for anything else. */
export type Answer = Record<string, unknown>;

/** One call: the path begins with the plug-in, `slurm/…` or `slurmdb/…`. */
export interface SlurmRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body?: unknown;
}

/** How to reach slurmrestd. */
export interface SlurmConnectionSettings {
  /** `http://host:port`, `https://…` or `unix:/path`. */
  url: string;
  token?: string | undefined;
  tokenFile?: string | undefined;
  keyFile?: string | undefined;
  timeoutMs: number;
  clock?: Clock;
}

/**
 * Connections to slurmrestd, each call in the name of an account: by a token signed for it, or by a given token, which
 * Slurm lets act for others only when it is SlurmUser's or root's. Every call has a deadline. Throws SlurmError; tokens
 * are in no message.
 */
export class SlurmConnection {
  /** When the controller, or slurmrestd, was last found to be away. */
  lastFaultMs = 0;
  /** Accounts that got no answer the last time. */
  readonly failing = new Set<string>();
  private readonly pool: Pool;
  private readonly clock: Clock;
  private readonly tokens: SlurmTokens;

  constructor(private readonly settings: SlurmConnectionSettings) {
    const { url, timeoutMs } = settings;
    const socketPath = /^unix:(\/.*)$/.exec(url)?.[1];
    const options = {
      connections: CONNECTIONS,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: timeoutMs, ...(socketPath === undefined ? {} : { socketPath }) },
    };
    this.pool = new Pool(socketPath === undefined ? url : 'http://localhost', options);
    this.clock = settings.clock ?? systemClock;
    this.tokens = new SlurmTokens(settings, this.clock);
  }

  /** The answer; throws what it says is wrong. */
  async call(user: string, request: SlurmRequest): Promise<Answer> {
    const { answer, error } = await this.exchange(user, request);
    if (error !== undefined) throw error;
    return answer;
  }

  /** The answer and the error in it. */
  async exchange(
    user: string,
    request: SlurmRequest,
  ): Promise<{ answer: Answer; error: SlurmError | undefined }> {
    const { status, text } = await this.send(user, request);
    const answer = parseAnswer(text);
    const errors = Array.isArray(answer['errors']) ? (answer['errors'] as SlurmErrorEntry[]) : [];
    const error = errorOfAnswer(status, errors);
    // A wrong token shows as 401, as "Unspecified error", or as a broken connection to the controller.
    if (error?.fault === 'away') {
      this.noteFault(user, request);
      this.tokens.forget(user);
    } else this.failing.delete(user);
    return { answer, error };
  }

  /** Ends the calls that are under way, and takes no more. */
  async abort(): Promise<void> {
    await this.pool.destroy();
  }

  async close(): Promise<void> {
    if (!this.pool.destroyed) await this.pool.close();
  }

  /** The accounting may be away while the controller is there. */
  private noteFault(user: string, { path }: SlurmRequest): void {
    if (!path.startsWith('slurm/')) return;
    this.lastFaultMs = this.clock.now();
    this.failing.add(user);
  }

  private async send(user: string, request: SlurmRequest) {
    const { method, path, body } = request;
    const headers: Record<string, string> = { accept: 'application/json' };
    try {
      const token = await this.tokens.get(user);
      if (token !== undefined) {
        headers['x-slurm-user-name'] = user;
        headers['x-slurm-user-token'] = token;
      }
      if (body !== undefined) headers['content-type'] = 'application/json';
      const answer = await this.pool.request({
        method,
        path: `/${path.replace('/', `/${VERSION}/`)}`,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(this.settings.timeoutMs),
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (cause) {
      this.noteFault(user, request);
      const reason = (cause as NodeJS.ErrnoException).code ?? (cause as Error).name;
      throw new SlurmError('away', `slurmrestd does not answer (${reason})`, 0, { cause });
    }
  }
}

/** Anything that is no JSON object (plain text of a refusal) is an empty answer; the status tells the rest. */
function parseAnswer(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
