import { ConnectionError, SSLError, Timeout } from '#src/http-client/index.js';
import { sleep, type Clock } from '#src/kernel/index.js';
import {
  HttpError,
  InvalidResponseError,
  OAuthError,
  parseObject,
  type FetchTokenOptions,
  type OAuth2Token,
  type ProtocolAnswer,
} from '#src/oauth2-client/index.js';

/** The reply of the device authorization endpoint (RFC 8628 §3.2); unknown members are kept. */
export interface DeviceAuthorization {
  [member: string]: unknown;
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete?: string;
  /** Seconds for which the codes are valid. */
  expires_in?: number;
  /** Seconds between two polls. */
  interval?: number;
}

/** Keywords of the waiting operations. */
export interface DeviceWaitOptions {
  /** Ends the waiting (Ctrl-C). */
  signal?: AbortSignal | undefined;
}

/** Keywords of deviceAuthorization. */
export interface DeviceLoginOptions extends DeviceWaitOptions {
  /** Shows one line to the user; standard output by default. */
  print?: (line: string) => void;
}

/** A clock that may bring its own way of waiting. */
export interface WaitingClock extends Clock {
  sleep?(milliseconds: number, options: { signal?: AbortSignal }): Promise<void>;
}

/** One poll of the token endpoint. */
export type PollToken = (options: FetchTokenOptions) => Promise<OAuth2Token>;

/** How long to wait between polls and in total, in seconds. */
export interface WaitLimits {
  interval: number;
  timeout: number;
}

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Seconds between two polls, unless said otherwise (interface "Limits"). */
export const DEVICE_INTERVAL_SECONDS = 5;
/** Seconds after which waiting ends, unless said otherwise (interface "Limits"). */
export const DEVICE_TIMEOUT_SECONDS = 300;
const SLOW_DOWN_SECONDS = 5;
const LONGEST_INTERVAL = 60;
const NOT_PRINTABLE = /[^\x21-\x7e]/g;

/** The reply of the device authorization endpoint; throws InvalidResponseError when a code is missing. */
export function parseDeviceAuthorization(answer: ProtocolAnswer): DeviceAuthorization {
  const reply = parseObject(answer);
  for (const name of ['device_code', 'user_code', 'verification_uri']) {
    if (typeof reply[name] !== 'string' || reply[name] === '') {
      throw new InvalidResponseError(`the device authorization endpoint answers no ${name}`);
    }
  }
  return reply as DeviceAuthorization;
}

/** Poll at the reply's interval (a number ≥ 1, else 5) until its expires_in or 300 s, whichever is less. */
export function limitsOfReply(reply: DeviceAuthorization): WaitLimits {
  const { interval, expires_in: expiresIn } = reply;
  const lifetime =
    typeof expiresIn === 'number' && expiresIn >= 0 ? expiresIn : DEVICE_TIMEOUT_SECONDS;
  return {
    interval: typeof interval === 'number' && interval >= 1 ? interval : DEVICE_INTERVAL_SECONDS,
    timeout: Math.min(lifetime, DEVICE_TIMEOUT_SECONDS),
  };
}

/** What the user is told; only printable characters of the server's texts reach the terminal. */
export function deviceInstructions(reply: DeviceAuthorization): string {
  const clean = (text: string): string => text.replace(NOT_PRINTABLE, '');
  const complete = reply.verification_uri_complete;
  if (typeof complete === 'string' && complete !== '') {
    return `Open ${clean(complete)} (code ${clean(reply.user_code)})`;
  }
  return `Open ${clean(reply.verification_uri)} and enter the code ${clean(reply.user_code)}`;
}

/** What a failed poll means for the next one: seconds to wait, or undefined to give up. */
function nextInterval(error: unknown, interval: number): number | undefined {
  if (error instanceof HttpError) {
    const isPassing = error.retryable || (!error.hasJson && !isRedirect(error.status));
    if (!isPassing) return undefined;
    return Math.max(Math.min(interval * 2, LONGEST_INTERVAL), error.retryAfter ?? 0);
  }
  if (error instanceof OAuthError) {
    if (error.error === 'authorization_pending') return interval;
    return error.error === 'slow_down' ? interval + SLOW_DOWN_SECONDS : undefined;
  }
  const isPassing = error instanceof Timeout || error instanceof ConnectionError;
  if (!isPassing || error instanceof SSLError) return undefined;
  return Math.min(interval * 2, LONGEST_INTERVAL);
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status < 400;
}

/** Whether a failed poll was an answer of the server: it makes a slower rhythm last. */
function isLasting(error: unknown): boolean {
  return !(error instanceof HttpError);
}

function aborted(signal: AbortSignal): OAuthError {
  return new OAuthError('aborted', { description: 'the login was given up', cause: signal.reason });
}

/**
 * Polls until the user has decided (RFC 8628 §3.4, §3.5): the first poll after one interval, `slow_down` adds 5 s for
 * all later polls, a time-out doubles the interval, pages of proxies and 5xx are waited out. Throws OAuthError
 * `timeout`, `aborted`, or the server's access_denied, expired_token or other error.
 */
export async function waitForToken(
  deviceCode: string,
  limits: WaitLimits & DeviceWaitOptions,
  poll: PollToken,
  clock: WaitingClock,
): Promise<OAuth2Token> {
  const { signal } = limits;
  // a clock that cannot wait says nothing about how long the real waiting takes
  const wait = clock.sleep?.bind(clock) ?? sleep;
  const now = clock.sleep === undefined ? () => performance.now() : () => clock.now();
  const deadline = now() + limits.timeout * 1000;
  let interval = limits.interval;
  let pause = interval;
  for (;;) {
    const left = deadline - now();
    try {
      await wait(Math.max(0, Math.min(pause * 1000, left)), signal === undefined ? {} : { signal });
    } catch (error) {
      throw signal?.aborted ? aborted(signal) : error;
    }
    if (pause * 1000 > left) {
      throw new OAuthError('timeout', {
        description: 'time out: the login was not completed in time',
      });
    }
    try {
      return await poll({
        grant_type: DEVICE_GRANT,
        device_code: deviceCode,
        scope: null,
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted) throw aborted(signal);
      const next = nextInterval(error, interval);
      if (next === undefined) throw error;
      pause = next;
      if (isLasting(error)) interval = next;
    }
  }
}
