import {
  beginSignIn,
  finishSignIn,
  GridClient,
  renewToken,
  signOut,
  type Application,
  type SignInState,
  type TokenResponse,
} from 'gridgate/client';

const KEPT = 'portal.sign-in';
const TOKENS = 'portal.tokens';
/** A token is renewed when it lives no longer than this. */
const LEEWAY_MS = 60_000;

interface StoredTokens {
  access: string;
  refresh: string | undefined;
  expiresAt: number;
  user: string;
  group: string;
  setup: string;
}

/**
 * Who is signed in. Tokens live in sessionStorage: they end with the tab, other tabs do not see them, and the content
 * security policy of the page keeps foreign scripts away from them.
 */
export class Session {
  readonly client: GridClient;
  private renewal: Promise<string | undefined> | undefined;

  constructor(
    readonly application: Application,
    private readonly onEnd: () => void,
  ) {
    this.client = new GridClient({
      url: application.url,
      token: () => this.token(),
      renew: () => this.renew(),
    });
  }

  /** User, group and setup; undefined when nobody is signed in. */
  get who(): Pick<StoredTokens, 'user' | 'group' | 'setup'> | undefined {
    return this.stored;
  }

  /** Leaves for the consent page; `back` is the place in the portal to return to. */
  async signIn(back: string): Promise<void> {
    const { address, kept } = await beginSignIn(this.application);
    sessionStorage.setItem(KEPT, JSON.stringify({ ...kept, back }));
    location.assign(address);
  }

  /** Takes the answer of the consent page and says where to return to. Throws GridError when there is no token. */
  async complete(answer: URLSearchParams): Promise<string> {
    const text = sessionStorage.getItem(KEPT) ?? '{}';
    sessionStorage.removeItem(KEPT);
    const kept = JSON.parse(text) as SignInState & { back?: string };
    this.store(await finishSignIn(this.application, answer, kept));
    return kept.back ?? '#/jobs';
  }

  /** Ends the session here and at the service. */
  async end(): Promise<void> {
    const refresh = this.stored?.refresh;
    sessionStorage.removeItem(TOKENS);
    if (refresh !== undefined) await signOut(this.application, refresh).catch(() => undefined);
    this.onEnd();
  }

  private get stored(): StoredTokens | undefined {
    const text = sessionStorage.getItem(TOKENS);
    return text === null ? undefined : (JSON.parse(text) as StoredTokens);
  }

  private async token(): Promise<string | undefined> {
    const tokens = this.stored;
    if (!tokens || tokens.expiresAt - LEEWAY_MS > Date.now()) return tokens?.access;
    return this.renew();
  }

  /** Calls at the same time share one renewal; when there is none the session has ended. */
  private renew(): Promise<string | undefined> {
    this.renewal ??= this.renewOnce().finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  private async renewOnce(): Promise<string | undefined> {
    const refresh = this.stored?.refresh;
    if (refresh === undefined) return undefined;
    try {
      this.store(await renewToken(this.application, refresh));
      return this.stored?.access;
    } catch {
      sessionStorage.removeItem(TOKENS);
      this.onEnd();
      return undefined;
    }
  }

  private store(token: TokenResponse): void {
    const tokens: StoredTokens = {
      access: token.access_token,
      refresh: token.refresh_token ?? this.stored?.refresh,
      expiresAt: Date.now() + token.expires_in * 1000,
      user: subjectOf(token.access_token),
      group: token.group,
      setup: token.setup,
    };
    sessionStorage.setItem(TOKENS, JSON.stringify(tokens));
  }
}

/** The user's name, for the eyes only: the service checks the token, not we. */
function subjectOf(token: string): string {
  const payload = token.split('.')[1] ?? '';
  const claims = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as {
    preferred_username?: string;
  };
  return claims.preferred_username ?? '';
}
