import { OAuth2Session } from '#src/id-provider/library.js';
import { CommandError } from '../terminal/command-error.js';
import {
  COMMAND_CLIENT,
  NOT_LOGGED_IN,
  readLogin,
  replaceLogin,
  type Login,
} from './login-file.js';
import { whileLocked } from './login-lock.js';
import { chosenCa } from './session-fetch.js';
import { tokenByCertificate } from './sign-in.js';

const RENEW_BEFORE_SECONDS = 60;

/** True when the token has ended or is about to: a minute before, or a tenth of its life when that is less. */
export function isEnding({ token }: Login, now = Date.now() / 1000): boolean {
  const margin = Math.min(RENEW_BEFORE_SECONDS, Number(token.expires_in ?? Infinity) / 10);
  return Number(token.expires_at ?? 0) - margin <= now;
}

/**
 * A login with another token than the given one: what another command has written meanwhile, or a renewed one, by
 * the refresh token or by the certificate. Commands that run side by side make one renewal. Throws CommandError,
 * OAuthError, RequestException or GridError.
 */
export function renewedLogin(path: string, old: string): Promise<Login> {
  return whileLocked(`${path}.lock`, async () => {
    const login = await readLogin(path);
    if (login.token.access_token !== old && !isEnding(login)) return login;
    return replaceLogin(path, login, async () => {
      const token = login.cert ? await tokenByCertificate(login) : await refreshed(login);
      return { ...login, token };
    });
  });
}

async function refreshed({ server, ca, token }: Login): Promise<Login['token']> {
  if (typeof token.refresh_token !== 'string') {
    const hint = `run \`gridgate login --server ${server}\``;
    throw new CommandError('the login has ended', NOT_LOGGED_IN, hint);
  }
  const session = new OAuth2Session({
    client_id: COMMAND_CLIENT,
    token,
    token_endpoint: `${server}/oauth2/token`,
    token_endpoint_auth_method: 'none',
    allowInsecureLoopback: true,
    verify: chosenCa(ca),
  });
  try {
    return { ...(await session.refresh_token()) };
  } finally {
    await session.close();
  }
}
