import { Inject, Injectable } from '@nestjs/common';
import { OAuthProblem } from '#src/kernel/index.js';
import {
  Audit,
  labelRequest,
  LOGGER,
  requestIdOf,
  type HttpRequest,
  type HttpResponse,
  type Logger,
} from '#src/platform/index.js';
import { RateLimits } from '../../protocol/rate-limits.js';
import { messagePage } from '../pages/message.page.js';
import { sendPage, sendRedirect } from '../pages/page.js';
import { formOf, withErrorPage } from '../pages/visitors.js';
import { BrowserSessionsService } from '../sessions/browser-sessions.service.js';
import type { LoginOutcome } from './login.guard.js';
import { LoginProviders } from './login-providers.js';

// Own pages only, so that a sign-in never leads anywhere else (open redirect).
const OWN_PAGE = /^\/oauth2\/(auth|device|applications)(\?[\x21-\x7e]*)?$/;

/** Signing in through an identity provider. */
@Injectable()
export class LoginPages {
  @Inject(LOGGER) private readonly logger!: Logger;

  constructor(
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly limits: RateLimits,
    private readonly audit: Audit,
  ) {}

  /** Sends the browser to the provider. */
  async begin(name: string, request: HttpRequest, response: HttpResponse): Promise<void> {
    await withErrorPage(response, async () => {
      await this.limits.count('authorize', request);
      const form = await formOf(request);
      const { session } = await this.sessions.visitOfForm(request, response, form.single('csrf'));
      const wanted = form.single('return') ?? '';
      const returnTo = OWN_PAGE.test(wanted) ? wanted : '/oauth2/applications';
      const url = await this.providers.begin(name, request, { session, returnTo });
      if (url !== undefined) sendRedirect(response, url);
      else {
        const text = 'This identity provider cannot be reached now. Please try again later.';
        sendPage(response, messagePage('Sign-in is not possible', text, 503));
      }
    });
  }

  /** Takes the browser back and signs its user in. */
  async complete(
    outcome: LoginOutcome,
    name: string,
    request: HttpRequest,
    response: HttpResponse,
  ): Promise<void> {
    await withErrorPage(response, async () => {
      if (outcome.kind === 'refused') throw outcome.problem;
      const way = { way: 'provider', provider: name };
      if (outcome.kind === 'signed-in') {
        const { user, login } = outcome;
        labelRequest(request, { user: user.name });
        await this.sessions.signIn(response, user, 'provider', login.session);
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
    });
  }
}

function signInRefused(): OAuthProblem {
  return new OAuthProblem('access_denied', 'The sign-in was not accepted', { status: 403 });
}
