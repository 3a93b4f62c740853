import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '#src/kernel/index.js';
import { RequestException, type RequestOptions, type Response } from '#src/http-client/index.js';
import { OAuthError, type OAuth2Token } from '#src/oauth2-client/index.js';
import { OAuth2Session } from '#src/id-provider/library.js';
import { CommandError } from '../command-error.js';
import { textOf } from '../output.js';
import { COMMAND_CLIENT, tokenByCertificate } from './sign-in.js';
import { loginPath, readLogin, writeLogin, type Login } from './login-file.js';

const AWAY = 3;
const REFUSED = 2;
const NOT_LOGGED_IN = 4;
const RENEW_BEFORE_MS = 60_000;

/** Query of a call; lists repeat the key. */
export type CallQuery = Record<string, string | number | boolean | string[]>;

/** The user's connection to a Gridgate: calls carry the token, which is renewed when it is about to end. */
export class GridConnection {
  private constructor(
    readonly login: Login,
    private readonly session: OAuth2Session,
  ) {}

  /** Opens the connection of the last login. Throws CommandError. */
  static async open(): Promise<GridConnection> {
    const path = loginPath(process.env);
    const login = await readLogin(path);
    const expiresAt = Number(login.token['expires_at'] ?? 0) * 1000;
    if (login.cert && expiresAt < Date.now() + RENEW_BEFORE_MS) {
      login.token = await guarded(() => tokenByCertificate(login));
      await writeLogin(path, login);
    }
    const session = new OAuth2Session({
      client_id: COMMAND_CLIENT,
      token: login.token,
      token_endpoint: `${login.server}/oauth2/token`,
      token_endpoint_auth_method: 'none',
      allowInsecureLoopback: true,
      verify: login.ca ?? true,
      default_timeout: 60,
      update_token: (token: OAuth2Token) => writeLogin(path, { ...login, token: { ...token } }),
    });
    return new GridConnection(login, session);
  }

  /** GET that answers a JSON object. */
  get(path: string, params: CallQuery = {}): Promise<JsonObject> {
    return this.json('GET', path, { params });
  }

  /** Any call that answers a JSON object; integers beyond 2^53 keep their digits. */
  async json(method: string, path: string, options: RequestOptions = {}): Promise<JsonObject> {
    const response = await this.call(method, path, options);
    const value = parseJson(response.text);
    if (!isJsonObject(value)) throw new CommandError('the answer is not a JSON object');
    return value;
  }

  /** A call; throws CommandError with the server's words for anything but success. */
  async call(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const response = await guarded(() =>
      this.session.request(method, `${this.login.server}${path}`, options),
    );
    if (response.ok) return response;
    if (options.stream) await response.read();
    throw refusal(response);
  }

  /**
   * Revokes the token, as far as the server can be reached: the refresh token with all that came from it, or a token
   * by certificate as the one that is presented.
   */
  async revoke(): Promise<void> {
    const url = `${this.login.server}/oauth2/revoke`;
    const { access_token: token } = this.login.token;
    const work = this.login.cert
      ? this.session.post(url, { data: { token: String(token) } })
      : this.session.revoke_token(url);
    await work.catch((error: unknown) => error);
  }

  async close(): Promise<void> {
    await this.session.close();
  }
}

/** Runs work on a connection and closes it. */
export async function withConnection<T>(work: (grid: GridConnection) => Promise<T>): Promise<T> {
  const grid = await GridConnection.open();
  try {
    return await work(grid);
  } finally {
    await grid.close();
  }
}

/** Turns errors of the client library into CommandErrors. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError) {
      const text = `${error.description || error.error}: log in again`;
      throw new CommandError(text, NOT_LOGGED_IN);
    }
    if (error instanceof RequestException) {
      throw new CommandError(`the server cannot be reached: ${error.message}`, AWAY);
    }
    throw error;
  }
}

function refusal(response: Response): CommandError {
  const { status_code: status } = response;
  const problem = problemOf(response);
  const faults = Array.isArray(problem['violations']) ? problem['violations'].map(faultText) : [];
  const detail = typeof problem['detail'] === 'string' ? problem['detail'] : response.reason;
  const text = faults.length > 1 ? [`${status}:`, ...faults].join('\n  ') : `${detail}`;
  if (status === 401) return new CommandError(`${detail}: log in again`, NOT_LOGGED_IN);
  return new CommandError(text, status >= 500 || status === 429 ? AWAY : REFUSED);
}

function problemOf(response: Response): JsonObject {
  try {
    const value = parseJson(response.text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function faultText(fault: JsonValue): string {
  if (!isJsonObject(fault)) return textOf(fault);
  return `${textOf(fault['field'])} ${textOf(fault['problem'])}`;
}
