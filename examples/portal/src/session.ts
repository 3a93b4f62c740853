import {
  beginSignIn,
  finishSignIn,
  GridClient,
  GridError,
  parseJson,
  renewToken,
  signOut,
  stringifyJson,
  type Application,
  type SignInState,
  type TokenResponse,
} from 'gridgate/client';
import { forgetDraft } from './pages/submit-draft.js';
import { SharedTokens, type StoredTokens } from './shared-tokens.js';

const KEPT = 'portal.sign-in';
const ADMIN = 'admin';
/** All that the groups of a user may, and an ID token, with which the portal signs out of the service as well. */
const SCOPE =
  'openid offline_access jobs:read jobs:submit jobs:kill catalogue:read catalogue:write webhooks';
/** A token is renewed when it lives no longer than this. */
const LEEWAY_MS = 60_000;
/** What the service says to `prompt=none` when it has to ask (OpenID Connect Core §3.1.2.6). */
const HAS_TO_ASK = new Set([
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
]);

/** What is asked of a sign-in. */
interface SignInWish {
  scope?: string;
  group?: string;
  setup?: string;
  prompt?: string;
}

/** Who is signed in, in all tabs of the portal (`SharedTokens`). */
export class Session {
  readonly client: GridClient;
  private readonly tokens: SharedTokens;
  private renewal: Promise<string | undefined> | undefined;
  private asked: { key: string; answer: Promise<boolean> } | undefined;

  constructor(
    readonly application: Application,
    private readonly onChange: (fault?: Error) => void,
  ) {
    this.tokens = new SharedTokens(() => onChange());
    this.client = new GridClient({
      url: application.url,
      token: () => this.token(),
      renew: () => this.renew(),
    });
  }

  /** User, group, setup and scope; undefined when nobody is signed in. */
  get who(): Pick<StoredTokens, 'user' | 'group' | 'setup' | 'scope'> | undefined {
    return this.tokens.current;
  }

  /** Takes over from another tab who is signed in there. */
  async join(): Promise<void> {
    await this.tokens.join();
  }

  /**
   * Leaves for the service; `back` is the place in the portal to return to. Whoever has allowed the portal before is not
   * asked again, but after signing out: then the service asks.
   */
  async signIn(back: string): Promise<void> {
    await this.leave(back, { prompt: 'none' });
  }

  /** Whether tokens for the group of who is signed in may have the scope of administration; asked once a group. */
  async mayAdminister(): Promise<boolean> {
    const { who } = this;
    const words = who?.scope.split(' ') ?? [];
    if (!who || words.includes(ADMIN)) return who !== undefined;
    if (!words.includes('jobs:read')) return false;
    const key = `${who.user} ${who.group}`;
    this.asked = this.asked?.key === key ? this.asked : { key, answer: this.isPossible() };
    return this.asked.answer;
  }

  /** Leaves for the service to ask for the scope of administration as well, which the user is asked about each time. */
  async beginAdministration(back: string): Promise<void> {
    const { scope = '', group, setup } = this.who ?? {};
    await this.leave(back, { scope: `${scope} ${ADMIN}`, ...placeOf(group, setup) });
  }

  /** Gives the tokens with that scope back, and leaves for usual ones. */
  async endAdministration(back: string): Promise<void> {
    const { refresh, group, setup } = this.tokens.current ?? {};
    if (refresh !== undefined) await signOut(this.application, refresh).catch(() => undefined);
    await this.leave(back, { prompt: 'none', ...placeOf(group, setup) });
  }

  /**
   * Takes the answer of the service and says where to return to; undefined when it has to ask and the browser is on its way
   * there. Throws GridError when there is no token.
   */
  async complete(answer: URLSearchParams): Promise<string | undefined> {
    const text = sessionStorage.getItem(KEPT) ?? '{}';
    sessionStorage.removeItem(KEPT);
    const kept = parseJson(text) as unknown as SignInState & SignInWish & { back?: string };
    const { back = '#/jobs' } = kept;
    try {
      this.store(await finishSignIn(this.application, answer, kept));
    } catch (error) {
      const code = error instanceof GridError ? (error.code ?? '') : '';
      if (code === 'access_denied' && kept.scope !== undefined && this.who) return back;
      if (!HAS_TO_ASK.has(code) || kept.prompt !== 'none') throw error;
      await this.leave(back, placeOf(kept.group, kept.setup));
      return undefined;
    }
    return back;
  }

  /** Ends the session here, in the other tabs and at the service, from where the browser comes back. */
  async end(): Promise<void> {
    const { refresh, id } = this.tokens.current ?? {};
    this.tokens.end();
    forgetDraft();
    if (refresh !== undefined) await signOut(this.application, refresh).catch(() => undefined);
    const { url, clientId, redirectUri } = this.application;
    const query = new URLSearchParams({
      client_id: clientId,
      post_logout_redirect_uri: redirectUri,
      ...(id !== undefined && { id_token_hint: id }),
    });
    location.assign(`${url}/oauth2/logout?${query.toString()}`);
  }

  private async leave(back: string, wish: SignInWish): Promise<void> {
    const { address, kept } = await beginSignIn(this.application, { scope: SCOPE, ...wish });
    sessionStorage.setItem(KEPT, stringifyJson({ ...kept, ...wish, back }));
    location.assign(address);
  }

  private async isPossible(): Promise<boolean> {
    try {
      return (await this.client.getAdministrationAccess()).possible;
    } catch {
      return false;
    }
  }

  private async token(): Promise<string | undefined> {
    const tokens = this.tokens.current;
    if (!tokens || !isOld(tokens)) return tokens?.access;
    return this.renew();
  }

  /** Calls at the same time share one renewal; when there is none the session has ended. */
  private renew(): Promise<string | undefined> {
    const stale = this.tokens.current?.access;
    this.renewal ??= this.tokens
      .alone(() => this.renewOnce(stale))
      .finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  /** `stale` is the token that was refused or is old: another tab may have renewed it meanwhile. */
  private async renewOnce(stale: string | undefined): Promise<string | undefined> {
    const { refresh, access } = this.tokens.current ?? {};
    if (access !== stale) return access;
    if (refresh === undefined) return undefined;
    try {
      this.store(await renewToken(this.application, refresh));
      return this.tokens.current?.access;
    } catch (error) {
      // A service that is away ends no session.
      if (!(error instanceof GridError) || ![400, 401].includes(error.status)) throw error;
      this.tokens.end();
      this.onChange(new Error('Your session has ended. Sign in again to come back to this page.'));
      return undefined;
    }
  }

  private store(token: TokenResponse): void {
    this.tokens.set({
      access: token.access_token,
      refresh: token.refresh_token ?? this.tokens.current?.refresh,
      id: token.id_token ?? this.tokens.current?.id,
      expiresAt: Date.now() + token.expires_in * 1000,
      user: subjectOf(token.access_token),
      group: token.group,
      setup: token.setup,
      scope: token.scope ?? '',
    });
  }
}

function placeOf(group?: string, setup?: string): SignInWish {
  return { ...(group !== undefined && { group }), ...(setup !== undefined && { setup }) };
}

function isOld({ expiresAt }: StoredTokens): boolean {
  return expiresAt - LEEWAY_MS < Date.now();
}

/** The user's name, for the eyes only: the service checks the token, not we. */
function subjectOf(token: string): string {
  const payload = token.split('.')[1] ?? '';
  const claims = parseJson(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as {
    preferred_username?: string;
  };
  return claims.preferred_username ?? '';
}
