import { parseJson } from '#src/kernel/index.js';
import { CommandError } from '../terminal/command-error.js';

/** What people want to know of a token. */
export interface ShownClaims {
  user: string;
  group: string;
  setup: string;
  scope: string;
  expires: string;
}

/** What an access token of the service says; it is the server that checks it. Throws CommandError. */
export function claimsOf(token: string): ShownClaims {
  try {
    const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
    const claims = parseJson(text) as Record<string, string | number>;
    return {
      user: String(claims['preferred_username'] ?? claims['sub']),
      group: String(claims['group']),
      setup: String(claims['setup']),
      scope: String(claims['scope']),
      expires: new Date(Number(claims['exp']) * 1000).toISOString(),
    };
  } catch {
    throw new CommandError('the stored token cannot be read', 4, 'run `gridgate login` again');
  }
}
