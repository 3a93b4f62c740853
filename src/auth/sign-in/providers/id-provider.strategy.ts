import { PassportStrategy } from '@nestjs/passport';
import OAuth2Strategy from 'passport-oauth2';
import type { NamedIdProvider, OAuth2IdProvider } from '#src/id-provider/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { RegistryService, User } from '#src/registry/index.js';
import type { LoginStates } from './login-states.js';

/** Somebody whom a provider knows. */
export interface ProviderSubject {
  readonly issuer: string;
  readonly sub: string;
  /** When the provider has seen them sign in, if it says so. */
  readonly authenticatedAt?: Date;
}

/** A user whom a provider has brought. */
export interface KnownSubject {
  readonly user: User;
  readonly authenticatedAt: Date | undefined;
}

/** The provider's answer brings nobody: what the log says of it. */
export class LoginFailure extends Error {}

// Far beyond every clock, and a date that every part can hold.
const LATEST_SECONDS = 1e11;
// passport-oauth2 tells by their number what its verify callback takes: two tokens, the results, the profile, `done`.
const VERIFY_PARAMETERS = 5;

/**
 * The strategy of a provider: passport-oauth2 with our state store, in which the client component
 * exchanges the code and checks state, nonce, PKCE, issuer and ID token. Succeeds with the User.
 */
export function idProviderStrategy(
  { name, provider }: NamedIdProvider,
  states: LoginStates,
  registry: RegistryService,
): OAuth2Strategy {
  const getOAuthAccessToken = (
    _answer: string,
    { caller }: { caller: HttpRequest },
    done: (error: unknown, access?: string, refresh?: string, results?: ProviderSubject) => void,
  ): void => {
    subjectOf(provider, caller.originalUrl).then(
      (subject) => done(null, subject.sub, undefined, subject),
      (error: unknown) => done(error),
    );
  };
  class IdProviderStrategy extends PassportStrategy(
    OAuth2Strategy,
    `id-provider ${name}`,
    VERIFY_PARAMETERS,
  ) {
    constructor() {
      super({
        // the component knows the endpoints from the provider's metadata
        authorizationURL: provider.issuer,
        tokenURL: provider.issuer,
        clientID: provider.client_id ?? '',
        clientSecret: '',
        store: states,
        skipUserProfile: true, // the ID token has said who it is
      });
      Object.assign(this._oauth2, { getOAuthAccessToken });
    }

    /** Hands the request on to the exchange of its code. */
    override tokenParams({ caller }: { caller: HttpRequest }): object {
      return { caller };
    }

    /** The user of the registry and the time of the sign-in; false, with the subject, when it has none. */
    async validate(
      _access: string,
      _refresh: string,
      subject: ProviderSubject,
    ): Promise<KnownSubject | [false, ProviderSubject]> {
      const { issuer, sub, authenticatedAt } = subject;
      const user = (await registry.current()).userBySubject(issuer, sub);
      return user ? { user, authenticatedAt } : [false, subject];
    }
  }
  return new IdProviderStrategy();
}

/** Whom the answer at this address brings. Throws LoginFailure. */
async function subjectOf(provider: OAuth2IdProvider, uri: string): Promise<ProviderSubject> {
  const state = new URLSearchParams(uri.split('?')[1]).get('state') ?? '';
  const done = await provider.parseAuthResponse({ method: 'GET', uri }, { state });
  if (!done.OK) throw new LoginFailure(done.Message);
  const [, { sub, auth_time: seconds }] = done.Value;
  if (sub === undefined) throw new LoginFailure('the provider names no subject');
  const isTime = typeof seconds === 'number' && seconds > 0 && seconds < LATEST_SECONDS;
  return {
    issuer: provider.issuer,
    sub,
    ...(isTime && { authenticatedAt: new Date(seconds * 1000) }),
  };
}
