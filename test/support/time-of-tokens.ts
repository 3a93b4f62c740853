import { decodeJwt } from 'jose';
import { eventually } from './testbed.js';

/** Resolves when the token is of an earlier second than now: tokens have whole seconds. */
export async function isOfEarlier(token: string): Promise<void> {
  const { iat = 0 } = decodeJwt(token);
  await eventually(() => Promise.resolve(iat < Math.floor(Date.now() / 1000)), 'a later second');
}
