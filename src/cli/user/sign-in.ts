import { OAuth2IdProvider } from '#src/id-provider/library.js';
import { Session } from '#src/http-client/index.js';
import type { TokenFields } from '#src/oauth2-client/index.js';
import { CommandError } from '../command-error.js';
import type { Login } from './login-file.js';

/** client_id of this command; it comes with every service. */
export const COMMAND_CLIENT = 'gridgate-cli';

const REFUSED = 2;

/** Where to sign in. */
export type SignIn = Omit<Login, 'token'>;

/** A token by the user's certificate (Flow A). Throws CommandError with the server's reason. */
export async function tokenByCertificate(login: SignIn): Promise<TokenFields> {
  const session = new Session({ verify: login.ca ?? true, cert: login.cert ?? null });
  try {
    const group = login.group ?? (await only(session, login, 'group'));
    const setup = login.setup ?? (await only(session, login, 'setup'));
    const answer = await session.get(`${login.server}/oauth2/token`, {
      params: { grant_type: 'client_credentials', group, setup },
    });
    if (!answer.ok) throw refused(answer.json());
    const token = answer.json() as TokenFields;
    return { ...token, expires_at: Math.floor(Date.now() / 1000) + Number(token['expires_in']) };
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
    verify: login.ca ?? true,
  });
  try {
    const result = await provider.deviceAuthorization(undefined, { print });
    if (!result.OK) throw new CommandError(`login failed: ${result.Message}`, REFUSED);
    return { ...result.Value };
  } finally {
    await provider.close();
  }
}

/** The first of the user's groups or setups, when none is asked for. */
async function only(session: Session, login: SignIn, kind: 'group' | 'setup'): Promise<string> {
  const answer = await session.get(`${login.server}/oauth2/${kind}s`);
  if (!answer.ok) throw refused(answer.json());
  const [first] = (answer.json() as Record<string, string[]>)[`${kind}s`] ?? [];
  if (first === undefined) throw new CommandError(`you have no ${kind}`, REFUSED);
  return first;
}

function refused(answer: unknown): CommandError {
  const { error_description: text } = answer as { error_description?: string };
  return new CommandError(`login refused: ${text ?? 'no reason given'}`, REFUSED);
}
