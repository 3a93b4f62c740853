import OAuth2Strategy from 'passport-oauth2';
import type { OAuth2IdProvider } from '#src/id-provider/index.js';
import { type HttpRequest, outOfTurn } from '#src/platform/index.js';

/** Outcome of one step of a login. */
export type LoginAttempt =
  | { kind: 'redirect'; url: string; state: string }
  | { kind: 'success'; issuer: string; sub: string }
  | { kind: 'failure'; reason: string };

interface StepOptions {
  step: 'begin' | 'complete';
  /** What this browser holds: its state, when the login began here. */
  session: { state?: unknown };
}

/**
 * A passport-oauth2 strategy whose protocol part is the client component: state, nonce, PKCE, issuer and ID token are
 * its business, the login record is in the database. Passport's own way through a strategy (redirect, success, fail,
 * error) is kept.
 */
export class IdProviderStrategy extends OAuth2Strategy {
  constructor(private readonly provider: OAuth2IdProvider) {
    super(
      {
        // never used: the component knows the endpoints from the provider's metadata
        authorizationURL: provider.issuer,
        tokenURL: provider.issuer,
        clientID: provider.client_id ?? '',
        clientSecret: '',
        callbackURL: String(provider.redirect_uri ?? ''),
      },
      () => undefined,
    );
  }

  /** One step of the login for a request. Never throws for what the provider or the browser sends. */
  run(request: HttpRequest, step: StepOptions['step'], state?: string): Promise<LoginAttempt> {
    return new Promise((resolve, reject) => {
      const attempt = Object.create(this) as IdProviderStrategy;
      const session: StepOptions['session'] = state === undefined ? {} : { state };
      attempt.redirect = (url: string) => {
        resolve({ kind: 'redirect', url, state: String(session.state) });
      };
      attempt.success = (user: object) => {
        resolve({ kind: 'success', ...(user as { issuer: string; sub: string }) });
      };
      attempt.fail = (challenge: unknown) => {
        resolve({ kind: 'failure', reason: String(challenge) });
      };
      attempt.error = reject;
      attempt.authenticate(request, { step, session });
    });
  }

  override authenticate(request: HttpRequest, options?: object): void {
    const { step, session } = options as StepOptions;
    const work = outOfTurn(request, () =>
      step === 'begin' ? this.begin(session) : this.complete(request, session),
    );
    work.catch((error: unknown) => this.error(error));
  }

  private async begin(session: StepOptions['session']): Promise<void> {
    const begun = await this.provider.submitNewSession({ session });
    if (begun.OK) this.redirect(begun.Value);
    else this.fail(begun.Message);
  }

  private async complete(request: HttpRequest, session: StepOptions['session']): Promise<void> {
    const response = { method: 'GET', uri: request.originalUrl };
    const done = await this.provider.parseAuthResponse(response, { ...session });
    if (!done.OK) {
      this.fail(done.Message);
      return;
    }
    const [, claims] = done.Value;
    if (claims.sub === undefined) this.fail('the provider names no subject');
    else this.success({ issuer: this.provider.issuer, sub: claims.sub });
  }
}
