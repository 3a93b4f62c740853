import { OAuth2Client } from '../oauth2-client-session.js';
import type { OAuth2ClientOptions } from '../session-options.js';
import { CapturingAdapter, type Reply } from './capturing-adapter.js';

export const URL_TOKEN = 'https://as.test/token';
/** The time of the tests, in seconds. */
export const NOW = 1_800_000_000;
export const ANSWER = {
  access_token: 'new',
  token_type: 'Bearer',
  expires_in: 600,
  refresh_token: 'r2',
};
export const LIVE = { access_token: 'live', token_type: 'Bearer', expires_at: NOW + 1000 };
export const EXPIRED = {
  access_token: 'old',
  token_type: 'Bearer',
  expires_at: NOW - 1,
  refresh_token: 'r1',
};

/** A client whose requests end in a capturing adapter. */
export function setUp(options: OAuth2ClientOptions = {}, ...replies: Reply[]) {
  const adapter = new CapturingAdapter(...(replies.length > 0 ? replies : [{ body: ANSWER }]));
  const client = new OAuth2Client({
    client_id: 'me',
    client_secret: 'shh-secret',
    trust_env: false,
    clock: { now: () => NOW * 1000 },
    ...options,
  });
  client.mount('https://', adapter);
  client.mount('http://', adapter);
  return { client, adapter };
}
