import { Injectable } from '@nestjs/common';
import type OAuth2Strategy from 'passport-oauth2';
import { LoginSessionsRepository } from '#src/id-provider/index.js';
import type { HttpRequest } from '#src/http/index.js';
import type { BrowserSessionEntity } from '../sessions/browser-session.entity.js';
import { BrowserSessionsService } from '../sessions/browser-sessions.service.js';

type Begun = OAuth2Strategy.StateStoreStoreCallback;
type Verified = OAuth2Strategy.StateStoreVerifyCallback;

/** What the strategy looks at: the answer of a provider, and the request of the browser that brings it. */
export interface LoginView {
  readonly caller: HttpRequest;
  /** The whole answer stands for its code: the component reads it, errors and issuer included. */
  readonly query: { readonly code: string; readonly state: string };
}

/** A login that this very browser has begun. */
export interface OwnLogin {
  /** The browser's session, to end when its user is signed in. */
  readonly session: BrowserSessionEntity;
  /** Own path to go on with. */
  readonly returnTo: string;
}

/** The state store of passport-oauth2, on the login sessions of the database (RFC 6749 §10.12). */
@Injectable()
export class LoginStates implements OAuth2Strategy.StateStore {
  constructor(
    private readonly logins: LoginSessionsRepository,
    private readonly sessions: BrowserSessionsService,
  ) {}

  /** Never asked for: logins are begun by the component, which knows pushed requests too. */
  store(request: object, done: Begun): void;
  store(request: object, meta: OAuth2Strategy.Metadata, done: Begun): void;
  store(_request: object, _meta: unknown, done?: Begun): void {
    done?.(new Error('an answer begins no login'), undefined);
  }

  /** Whether the state is that of a login of this browser; one of another browser is spoilt by it. */
  verify(request: object, state: string, done: Verified): void;
  verify(request: object, state: string, meta: OAuth2Strategy.Metadata, done: Verified): void;
  verify(request: object, state: string, _meta: unknown, done?: Verified): void {
    this.ownLogin((request as LoginView).caller, state).then(
      (login) =>
        done?.(null, login !== undefined, login ?? 'the login did not begin in this browser'),
      (error: unknown) => done?.(error as Error, false, undefined),
    );
  }

  private async ownLogin(request: HttpRequest, state: string): Promise<OwnLogin | undefined> {
    const session = await this.sessions.current(request);
    const binding = await this.logins.bindingOf(state);
    if (session && binding?.browser === session.idHash) {
      return { session, returnTo: binding.returnTo };
    }
    await this.logins.take(state);
    return undefined;
  }
}
