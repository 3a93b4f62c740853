import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import { Audit } from '#src/audit/index.js';
import { labelRequest, requestIdOf, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import { LOGGER, type Logger } from '#src/runtime/index.js';
import { messagePage } from '../pages/message.page.js';
import { sendPage, sendRedirect } from '../pages/page.js';
import { BrowserSessionsService } from '../sessions/browser-sessions.service.js';
import { DemoSignIn } from '../demo/demo-sign-in.js';
import type { LoginOutcome } from './login.guard.js';
import type { LoginForm } from './login.request.js';
import { LoginProviders } from './login-providers.js';

// Own pages only, so that a sign-in never leads anywhere else (open redirect).
const OWN_PAGE = /^\/oauth2\/(auth|device|applications)(\?[\x21-\x7e]*)?$/;

/** Signing in through an identity provider. */
@Injectable()
export class LoginPages {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly audit: Audit,
    private readonly demo: DemoSignIn,
  ) {}

  /** A new session for the user of the certificate, who is asked for a sign-in although there was one. */
  async signInAgain(form: LoginForm, request: HttpRequest, response: HttpResponse): Promise<void> {
    const state = await this.sessions.resumeByForm(request, response, form);
    const { certificateUser: user, session } = state;
    if (!user) throw signInRefused();
    const returnTo = ownPage(form);
    await this.sessions.signIn(response, { user, method: 'certificate', returnTo }, session);
    const actor = { user: user.name };
    this.audit.done('user.signed-in', { way: 'certificate' }, { request, actor });
    sendRedirect(response, returnTo);
  }

  /** Sends the browser to the provider. */
  async begin(
    name: string,
    form: LoginForm,
    request: HttpRequest,
    response: HttpResponse,
  ): Promise<void> {
    const { session } = await this.sessions.resumeByForm(request, response, form);
    const returnTo = ownPage(form);
    const user = await this.demo.userOf(request, name);
    if (user) {
      await this.sessions.signIn(response, { user, method: 'provider', returnTo }, session);
      this.audit.done('user.signed-in', { way: 'demo' }, { request, actor: { user: user.name } });
      sendRedirect(response, returnTo);
      return;
    }
    const url = await this.providers.begin(name, {
      ...{ session, returnTo, prompt: form.prompt },
    });
    if (url !== undefined) sendRedirect(response, url);
    else {
      const text = 'This identity provider cannot be reached now. Please try again later.';
      sendPage(response, messagePage('Sign-in is not possible', text, 503));
    }
  }

  /** Takes the browser back and signs its user in. */
  async complete(
    outcome: LoginOutcome,
    name: string,
    request: HttpRequest,
    response: HttpResponse,
  ): Promise<void> {
    if (outcome.kind === 'refused') throw outcome.problem;
    const way = { way: 'provider', provider: name };
    if (outcome.kind === 'signed-in') {
      const { user, login } = outcome;
      labelRequest(request, { user: user.name });
      const { authenticatedAt } = outcome;
      const signIn = {
        user,
        method: 'provider' as const,
        authenticatedAt,
        returnTo: login.returnTo,
      };
      await this.sessions.signIn(response, signIn, login.session);
      this.audit.done('user.signed-in', way, { request });
      sendRedirect(response, login.returnTo);
      return;
    }
    const subject = outcome.kind === 'unknown-user' ? outcome.subject.sub : undefined;
    this.audit.refused('user.signed-in', { ...way, subject }, request, signInRefused());
    if (outcome.kind === 'unknown-user') {
      const { sub, issuer } = outcome.subject;
      const text = `You are signed in as ${sub} at ${issuer}, but this service does not know you. Give these two words to its administrators.`;
      sendPage(response, messagePage('You are not registered here', text, 403));
      return;
    }
    const details = { requestId: requestIdOf(request), provider: name, reason: outcome.reason };
    this.logger.warn(details, 'sign-in failed');
    const text = 'The sign-in was not completed. Please start again from your application.';
    sendPage(response, messagePage('Sign-in failed', text, 400));
  }
}

/** Own path that the form names, else the page of applications. */
function ownPage({ return: wanted = '' }: LoginForm): string {
  return OWN_PAGE.test(wanted) ? wanted : '/oauth2/applications';
}

function signInRefused(): OAuthProblem {
  return new OAuthProblem('access_denied', 'The sign-in was not accepted', { status: 403 });
}
