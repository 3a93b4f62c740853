import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { labelRequest, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import type { User } from '#src/registry/index.js';
import {
  authenticationOf,
  BrowserSessionsService,
  type SessionState,
} from '../sign-in/sessions/browser-sessions.service.js';
import { subjectOf } from '../bearer/subject.js';
import { loginPage } from '../sign-in/providers/login.page.js';
import { LoginProviders } from '../sign-in/providers/login-providers.js';
import { sendPage, sendRedirect } from '../sign-in/pages/page.js';
import { AuthorizationError } from './authorization-error.js';
import type { AuthorizationRequest } from './authorization-request.js';
import type { AuthorizationCall } from './authorization.interceptor.js';
import type { AuthorizationQuery, ConsentForm } from './authorize.request.js';
import { AuthorizeDecisions, type ConsentChoice } from './authorize.decisions.js';
import { AuthorizeService } from './authorize.service.js';
import { isMet } from './sign-in-demand.js';
import { consentPage } from './consent.page.js';

interface AskedState {
  asked: AuthorizationRequest;
  state: SessionState;
}

/** The pages of /oauth2/auth, one step after the other. */
@Injectable()
export class AuthorizePages {
  constructor(
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly authorize: AuthorizeService,
    private readonly decisions: AuthorizeDecisions,
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly audit: Audit,
  ) {}

  /** Sign-in or consent page. */
  async ask(
    call: AuthorizationCall,
    query: AuthorizationQuery,
    response: HttpResponse,
  ): Promise<void> {
    const asked = await this.checked(call, query);
    const { request } = call;
    const { isSilent } = asked.demand;
    if (isSilent && !(await this.sessions.maySignInSilently(request))) throw loginRequired();
    const state = await this.sessions.resume(request, response);
    if (isSilent) {
      const user = this.asDemanded(state.user, request, { asked, state });
      await this.answerAgain(request, response, { asked, state, user });
      return;
    }
    const user = this.userAsDemanded(request, { asked, state });
    if (user) await this.sendConsent({ request, response, asked, state, user });
    else this.sendLogin(request, response, { asked, state });
  }

  /** The user's decision. */
  async decide(
    call: AuthorizationCall,
    { query, form }: { query: AuthorizationQuery; form: ConsentForm },
    response: HttpResponse,
  ): Promise<void> {
    const asked = await this.checked(call, query);
    if (asked.demand.isSilent)
      throw new AuthorizationError('interaction_required', 'prompt is none');
    const { request } = call;
    const found = await this.sessions.resumeByForm(request, response, form);
    const user = this.userAsDemanded(request, { asked, state: found });
    if (!user) {
      this.sendLogin(request, response, { asked, state: found });
      return;
    }
    const { decision, group, setup } = form;
    if (decision === 'another') {
      this.sendLogin(request, response, { asked, state: found, isAnother: true });
      return;
    }
    const choice = { group, setup };
    if (decision === 'deny') {
      await this.sessions.settle(found.session);
      this.audit.done('consent.denied', { way: 'code' }, { request, actor: { user: user.name } });
      await this.decisions.deny(asked);
      throw new AuthorizationError('access_denied', 'the user has refused');
    }
    const state = decision === 'allow' ? await this.confirmed(request, response, found) : found;
    const giver = { user, authentication: authenticationOf(state.session) };
    const location =
      decision === 'allow' ? await this.decisions.allow(asked, giver, choice) : undefined;
    if (location === undefined) {
      await this.sendConsent({ request, response, asked, state, user, choice });
      return;
    }
    await this.sessions.settle(state.session);
    const actor = { user: user.name, ...choice };
    this.audit.done('consent.given', { way: 'code' }, { request, actor });
    sendRedirect(response, location);
  }

  /** `prompt=none`: the code, when nobody has to be asked. Throws AuthorizationError. */
  private async answerAgain(
    request: HttpRequest,
    response: HttpResponse,
    { asked, state, user }: AskedState & { user: User | undefined },
  ): Promise<void> {
    if (!user) throw loginRequired();
    labelRequest(request, { user: user.name });
    const giver = { user, authentication: authenticationOf(state.session) };
    const location = await this.decisions.allowAgain(asked, giver);
    if (location === undefined) {
      throw new AuthorizationError('consent_required', 'the user has to be asked');
    }
    this.audit.done('consent.given', { way: 'again' }, { request, actor: { user: user.name } });
    sendRedirect(response, location);
  }

  /** Whom the consent page asks: who is signed in or, once signed out, whose certificate it is. */
  private userAsDemanded(request: HttpRequest, { asked, state }: AskedState): User | undefined {
    return this.asDemanded(state.user ?? state.certificateUser, request, { asked, state });
  }

  /** Whoever allows something has confirmed that it is still they whose certificate the browser shows. */
  private async confirmed(
    request: HttpRequest,
    response: HttpResponse,
    state: SessionState,
  ): Promise<SessionState> {
    const { user, certificateUser, session } = state;
    if (user || !certificateUser) return state;
    const signIn = { user: certificateUser, method: 'certificate' as const };
    const confirmed = await this.sessions.signIn(response, signIn, session);
    const actor = { user: certificateUser.name };
    this.audit.done('user.signed-in', { way: 'certificate' }, { request, actor });
    return { ...state, user: certificateUser, session: confirmed };
  }

  /** The user, if the request does not demand another or a fresh sign-in. */
  private asDemanded(
    user: User | undefined,
    { originalUrl: address }: HttpRequest,
    { asked, state: { session } }: AskedState,
  ): User | undefined {
    if (!user) return undefined;
    const seen = { subject: subjectOf(user), session, address, now: this.clock.now() };
    return isMet(asked.demand, seen) ? user : undefined;
  }

  private async checked(
    { proved, request }: AuthorizationCall,
    query: AuthorizationQuery,
  ): Promise<AuthorizationRequest> {
    const asked = await this.authorize.check(proved, query);
    labelRequest(request, { client: asked.client.id });
    return asked;
  }

  private async sendConsent(input: {
    request: HttpRequest;
    response: HttpResponse;
    asked: AuthorizationRequest;
    state: SessionState;
    user: User;
    choice?: ConsentChoice;
  }): Promise<void> {
    const { request, response, asked, state, user, choice } = input;
    labelRequest(request, { user: user.name });
    const choices = await this.decisions.choices(asked, user, choice);
    const page = consentPage({
      client: asked.client,
      user,
      choices,
      redirectUri: asked.redirectUri,
      csrfToken: state.session.csrfToken,
      action: request.originalUrl,
      ...(choice && {
        fault: 'Choose one of your groups, a setup that it may use, and Allow or Deny.',
      }),
    });
    sendPage(response, page);
  }

  private sendLogin(
    request: HttpRequest,
    response: HttpResponse,
    { asked, state, isAnother = false }: AskedState & { isAnother?: boolean },
  ): void {
    const page = loginPage({
      purpose: `${asked.client.name} asks to act for you. First say who you are.`,
      providers: this.providers.list(),
      returnTo: request.originalUrl,
      csrfToken: state.session.csrfToken,
      isCertificateRefused: state.isCertificateRefused,
      demoUsers: state.demoUsers,
      certificateUser: state.certificateUser?.name,
      expected: asked.demand.loginHint,
      isAnother,
    });
    sendPage(response, page);
  }
}

function loginRequired(): AuthorizationError {
  return new AuthorizationError('login_required', 'the user has to sign in');
}
