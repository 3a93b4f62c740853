import { Injectable } from '@nestjs/common';
import { Audit, labelRequest, type HttpRequest, type HttpResponse } from '#src/platform/index.js';
import type { User } from '#src/registry/index.js';
import { RateLimits } from '../protocol/rate-limits.js';
import {
  BrowserSessionsService,
  type Visit,
} from '../sign-in/sessions/browser-sessions.service.js';
import { loginPage } from '../sign-in/providers/login.page.js';
import { LoginProviders } from '../sign-in/providers/login-providers.js';
import { messagePage } from '../sign-in/pages/message.page.js';
import { sendPage, sendRedirect } from '../sign-in/pages/page.js';
import { formOf, withErrorPage } from '../sign-in/pages/visitors.js';
import { UnprovedRequestError, type AuthorizationRequest } from './authorization-request.js';
import { AuthorizeService, type ConsentChoice } from './authorize.service.js';
import { consentPage } from './consent.page.js';

/** The pages of /oauth2/auth, one step after the other. */
@Injectable()
export class AuthorizePages {
  constructor(
    private readonly authorize: AuthorizeService,
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly limits: RateLimits,
    private readonly audit: Audit,
  ) {}

  /** Sign-in or consent page, or straight back to the application when its request is wrong. */
  async ask(request: HttpRequest, response: HttpResponse): Promise<void> {
    await this.proved(request, response, async (asked) => {
      const visit = await this.sessions.visit(request, response);
      if (visit.user) await this.sendConsent({ request, response, asked, visit, user: visit.user });
      else this.sendLogin(request, response, { asked, visit });
    });
  }

  /** The user's decision. */
  async decide(request: HttpRequest, response: HttpResponse): Promise<void> {
    await this.proved(request, response, async (asked) => {
      const form = await formOf(request);
      const visit = await this.sessions.visitOfForm(request, response, form.single('csrf'));
      const { user } = visit;
      if (!user) {
        this.sendLogin(request, response, { asked, visit });
        return;
      }
      const decision = form.single('decision');
      const choice = { group: form.single('group'), setup: form.single('setup') };
      const actor = { user: user.name, ...choice };
      if (decision === 'deny') {
        this.audit.done('consent.denied', { way: 'code' }, { request, actor: { user: user.name } });
        sendRedirect(response, this.authorize.deny(asked));
      } else {
        const location =
          decision === 'allow' ? await this.authorize.allow(asked, user, choice) : undefined;
        if (location !== undefined) {
          this.audit.done('consent.given', { way: 'code' }, { request, actor });
          sendRedirect(response, location);
        } else await this.sendConsent({ request, response, asked, visit, user, choice });
      }
    });
  }

  private async proved(
    request: HttpRequest,
    response: HttpResponse,
    work: (asked: AuthorizationRequest) => Promise<void>,
  ): Promise<void> {
    await withErrorPage(response, async () => {
      await this.limits.count('authorize', request);
      try {
        const asked = await this.authorize.check(request);
        if ('errorRedirect' in asked) {
          sendRedirect(response, asked.errorRedirect);
          return;
        }
        labelRequest(request, { client: asked.client.id });
        await work(asked);
      } catch (error) {
        if (!(error instanceof UnprovedRequestError)) throw error;
        const text = `${error.message} Nothing was sent to anybody; tell the people who run the application.`;
        sendPage(response, messagePage('This request cannot be trusted', text, 400));
      }
    });
  }

  private async sendConsent(input: {
    request: HttpRequest;
    response: HttpResponse;
    asked: AuthorizationRequest;
    visit: Visit;
    user: User;
    choice?: ConsentChoice;
  }): Promise<void> {
    const { request, response, asked, visit, user, choice } = input;
    labelRequest(request, { user: user.name });
    const choices = await this.authorize.choices(asked, user, choice);
    if ('errorRedirect' in choices) {
      sendRedirect(response, choices.errorRedirect);
      return;
    }
    const page = consentPage({
      client: asked.client,
      user,
      choices,
      redirectUri: asked.redirectUri,
      csrfToken: visit.session.csrfToken,
      action: request.originalUrl,
      providers: this.providers.list(),
      ...(choice && {
        fault: 'Choose one of your groups, a setup that it may use, and Allow or Deny.',
      }),
    });
    sendPage(response, page);
  }

  private sendLogin(
    request: HttpRequest,
    response: HttpResponse,
    { asked, visit }: { asked: AuthorizationRequest; visit: Visit },
  ): void {
    const page = loginPage({
      purpose: `${asked.client.name} asks to act for you. First say who you are.`,
      providers: this.providers.list(),
      returnTo: request.originalUrl,
      csrfToken: visit.session.csrfToken,
      isCertificateRefused: visit.isCertificateRefused,
    });
    sendPage(response, page);
  }
}
