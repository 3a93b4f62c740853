import { OAuthProblem } from '#src/kernel/index.js';
import type { DeviceAuthorizationEntity } from '../../stores/device-authorization.entity.js';
import { invalidGrant } from '../../protocol/oauth-errors.js';

const SLOWER_SECONDS = 5;
// Timers of honest devices are never exact.
const TOLERANCE_MS = 500;

/** What a device is told that asks before there is a token for it. */
export interface Refusal {
  problem: OAuthProblem;
  /** Seconds between polls from now on; absent when there is nothing to ask for any more. */
  intervalSeconds?: number;
}

/** 400 `invalid_grant` for a device code. */
export function badDeviceCode(): OAuthProblem {
  return invalidGrant('device code');
}

/**
 * Why a poll gets no token (RFC 8628 §3.5); undefined when the user has let the device in. Who asks too early must wait
 * five seconds longer between all further polls.
 */
export function refusalOf(device: DeviceAuthorizationEntity, now: number): Refusal | undefined {
  const { status } = device;
  if (status === 'denied') {
    return { problem: new OAuthProblem('access_denied', 'The user has refused') };
  }
  if (device.expiresAt.getTime() <= now) {
    return { problem: new OAuthProblem('expired_token', 'The codes have expired') };
  }
  if (status === 'pending') return waiting(device, now);
  return status === 'allowed' ? undefined : { problem: badDeviceCode() };
}

function waiting({ polledAt, intervalSeconds }: DeviceAuthorizationEntity, now: number): Refusal {
  const pauseMs = intervalSeconds * 1000 - TOLERANCE_MS;
  if (polledAt === null || now >= polledAt.getTime() + pauseMs) {
    const problem = new OAuthProblem('authorization_pending', 'The user has not decided yet');
    return { problem, intervalSeconds };
  }
  const slower = intervalSeconds + SLOWER_SECONDS;
  const problem = new OAuthProblem('slow_down', `Ask every ${slower} seconds`);
  return { problem, intervalSeconds: slower };
}
