import { GridClient } from '#src/client/index.js';
import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { Session } from '#src/http-client/index.js';
import type { TokenFields } from '#src/oauth2-client/index.js';
import { CommandError } from '../terminal/command-error.js';
import { explained, guarded } from './failures.js';
import { COMMAND_CLIENT, NOT_LOGGED_IN, type Login } from './login-file.js';
import { chosenCa, sessionFetch } from './session-fetch.js';

const REFUSED = 2;
const PATIENCE_SECONDS = 30;

/** What the server's reasons against a login mean to a person. */
const REASONS: Record<string, string> = {
  access_denied: 'it was denied in the browser',
  expired_token: 'the code has expired',
  timeout: 'nobody entered the code in time',
};

/** Where to sign in. */
export type SignIn = Omit<Login, 'token'>;

/** A token by the user's certificate (Flow A). Throws CommandError with the server's reason. */
export async function tokenByCertificate(login: SignIn): Promise<TokenFields> {
  const { server, ca, cert } = login;
  const session = new Session({
    verify: chosenCa(ca),
    cert: cert ?? null,
    default_timeout: PATIENCE_SECONDS,
  });
  const client = new GridClient({ url: server, fetch: sessionFetch(session, () => undefined) });
  try {
    return await guarded(server, async () => {
      const group = login.group ?? first('group', (await client.listGroups()).groups);
      const setup = login.setup ?? first('setup', (await client.listSetups()).setups);
      const grant = { grant_type: 'client_credentials', group, setup } as const;
      const token = await client.getToken(grant);
      return { ...token, expires_at: Math.floor(Date.now() / 1000) + token.expires_in };
    });
  } catch (error) {
    // a refused certificate is no ended login: logging in again would not help
    if (error instanceof CommandError && error.exitCode === NOT_LOGGED_IN) {
      throw new CommandError(`login refused with ${cert?.[0]}: ${error.message}`, REFUSED);
    }
    throw error;
  } finally {
    await session.close();
  }
}

/** A token by the device flow: prints where to go, and waits. Throws CommandError. */
export async function tokenByDevice(
  login: SignIn,
  print: (line: string) => void,
): Promise<TokenFields> {
  const provider = new OAuth2IdProvider({
    ProviderName: 'gridgate',
    issuer: login.server,
    server_metadata_url: `${login.server}/.well-known/oauth-authorization-server`,
    client_id: COMMAND_CLIENT,
    token_endpoint_auth_method: 'none',
    allowInsecureLoopback: true,
    verify: chosenCa(login.ca),
  });
  const { group, setup } = login;
  const wish = new URLSearchParams({ ...(group && { group }), ...(setup && { setup }) }).toString();
  provider.register_compliance_hook('device_authorization_request', (url, headers, body) => [
    url,
    headers,
    wish === '' ? body : `${body}&${wish}`,
  ]);
  try {
    const result = await provider.deviceAuthorization(undefined, { print });
    if (result.OK) return { ...result.Value };
    const failure = explained(result.cause, login.server);
    if (failure instanceof CommandError && failure.exitCode !== NOT_LOGGED_IN) throw failure;
    const reason = REASONS[String(result.Errno)] ?? result.Message;
    const hint = 'run `gridgate login` again, and allow it in time';
    throw new CommandError(`login failed: ${reason}`, REFUSED, hint);
  } finally {
    await provider.close();
  }
}

/** The first of the user's groups or setups, when none is asked for. */
function first(kind: 'group' | 'setup', all: string[]): string {
  const [name] = all;
  if (name !== undefined) return name;
  throw new CommandError(`you have no ${kind}`, REFUSED, 'ask whoever runs the service for one');
}
