import { GridClient } from '#src/client/index.js';
import { Session } from '#src/http-client/index.js';
import { parseJson } from '#src/kernel/index.js';
import { OAuth2Session } from '#src/id-provider/library.js';
import { explained } from './failures.js';
import { COMMAND_CLIENT, loginPath, readLogin, type Login } from './login-file.js';
import { isEnding, renewedLogin } from './login-renewal.js';
import { chosenCa, sessionFetch, type Sent } from './session-fetch.js';

/** Seconds without a byte after which the service counts as away. */
const SILENCE_SECONDS = 60;

/** The user's connection to a Gridgate: a typed client whose calls carry a token that is renewed in time. */
export class GridConnection {
  readonly client: GridClient;
  /** Told of what is sent; the bar of an upload listens. */
  sent: Sent = () => undefined;
  private readonly session: Session;

  private constructor(
    private readonly path: string,
    private login: Login,
  ) {
    this.session = new Session({ verify: chosenCa(login.ca), default_timeout: SILENCE_SECONDS });
    this.client = new GridClient({
      url: login.server,
      token: () => this.accessToken(),
      renew: () => this.renew(),
      fetch: sessionFetch(this.session, (bytes) => this.sent(bytes)),
      parse: parseJson,
    });
  }

  /** Opens the connection of the last login. Throws CommandError. */
  static async open(): Promise<GridConnection> {
    const path = loginPath(process.env);
    return new GridConnection(path, await readLogin(path));
  }

  /** Path of the CA that the login trusts; undefined for those of the machine. */
  get ca(): string | undefined {
    return this.login.ca;
  }

  get server(): string {
    return this.login.server;
  }

  /**
   * Revokes the token, as far as the server can be reached: the refresh token with all that came from it, or a token
   * by certificate as the one that is presented. Answers whether the server has done it.
   */
  async revoke(): Promise<boolean> {
    const { server, ca, cert, token } = this.login;
    const session = new OAuth2Session({
      client_id: COMMAND_CLIENT,
      token,
      token_endpoint_auth_method: 'none',
      allowInsecureLoopback: true,
      verify: chosenCa(ca),
      default_timeout: SILENCE_SECONDS,
    });
    try {
      if (cert) await this.client.revokeToken({ token: String(token.access_token) });
      else await session.revoke_token(`${server}/oauth2/revoke`);
      return true;
    } catch {
      return false;
    } finally {
      await session.close();
    }
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  /** The access token, renewed when it is about to end. */
  async accessToken(): Promise<string> {
    return isEnding(this.login) ? this.renew() : this.access;
  }

  private async renew(): Promise<string> {
    this.login = await renewedLogin(this.path, this.access);
    return this.access;
  }

  private get access(): string {
    return String(this.login.token.access_token ?? '');
  }
}

/** Runs work on a connection and closes it; failures of calls become CommandErrors. */
export async function onConnection<T>(work: (grid: GridConnection) => Promise<T>): Promise<T> {
  const grid = await GridConnection.open();
  try {
    return await work(grid);
  } catch (error) {
    throw explained(error, grid.server);
  } finally {
    await grid.close();
  }
}
