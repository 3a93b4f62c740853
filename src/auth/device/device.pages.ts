import { Injectable } from '@nestjs/common';
import {
  Audit,
  labelRequest,
  queryValuesOf,
  type HttpRequest,
  type HttpResponse,
  type QueryValues,
} from '#src/platform/index.js';
import type { User } from '#src/registry/index.js';
import { RateLimits } from '../protocol/rate-limits.js';
import {
  BrowserSessionsService,
  type Visit,
} from '../sign-in/sessions/browser-sessions.service.js';
import { LoginProviders } from '../sign-in/providers/login-providers.js';
import { loginPage } from '../sign-in/providers/login.page.js';
import { messagePage } from '../sign-in/pages/message.page.js';
import { sendPage } from '../sign-in/pages/page.js';
import { formOf, withErrorPage } from '../sign-in/pages/visitors.js';
import { deviceConsentPage, userCodePage } from './device.page.js';
import { DeviceService, type DeviceQuestion } from './device.service.js';

const NO_SUCH_CODE = 'This code is not known or has expired. Look at your device again.';

interface SignedInVisit {
  request: HttpRequest;
  response: HttpResponse;
  user: User;
  csrfToken: string;
}

/** The pages of /oauth2/device. */
@Injectable()
export class DevicePages {
  constructor(
    private readonly devices: DeviceService,
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly limits: RateLimits,
    private readonly audit: Audit,
  ) {}

  /** The page for the code, or the question when the address carries a code. */
  async ask(request: HttpRequest, response: HttpResponse): Promise<void> {
    await withErrorPage(response, async () => {
      await this.limits.count('authorize', request);
      const visit = await this.sessions.visit(request, response);
      const typed = queryValuesOf(request).single('user_code');
      await this.signedIn(request, response, visit, async (visitor) => {
        if (typed === undefined || typed === '') sendPage(response, userCodePage(visitor));
        else await this.lookUp(request, visitor, typed);
      });
    });
  }

  /** The code or the decision. */
  async decide(request: HttpRequest, response: HttpResponse): Promise<void> {
    await withErrorPage(response, async () => {
      await this.limits.count('authorize', request);
      const form = await formOf(request);
      const visit = await this.sessions.visitOfForm(request, response, form.single('csrf'));
      const typed = form.single('user_code') ?? '';
      await this.signedIn(request, response, visit, async (visitor) => {
        const question = await this.lookUp(request, visitor, typed, form.has('decision'));
        if (question) await this.conclude(visitor, question, form);
      });
    });
  }

  /** Shows the question; with `isDecided` answers it instead, for the decision to be carried out. */
  private async lookUp(
    request: HttpRequest,
    visitor: SignedInVisit,
    typed: string,
    isDecided = false,
  ): Promise<DeviceQuestion | undefined> {
    const { response } = visitor;
    // Counted before the look-up, or many guesses at once would all be looked up (RFC 8628 §5.1).
    await this.limits.count('userCode', request);
    const question = await this.devices.question(typed, visitor.user);
    if (question) await this.limits.giveBack('userCode', request);
    if (!question) {
      sendPage(response, userCodePage({ ...visitor, fault: NO_SUCH_CODE }));
      return undefined;
    }
    labelRequest(request, { client: question.client.id });
    if (isDecided) return question;
    if (question.choices.groups.length > 0) {
      sendPage(response, deviceConsentPage({ ...visitor, question }));
    } else {
      const text = 'None of your groups allows what the device asks for.';
      sendPage(response, messagePage('Not allowed', text, 403));
    }
    return undefined;
  }

  private async conclude(
    visitor: SignedInVisit,
    question: DeviceQuestion,
    form: QueryValues,
  ): Promise<void> {
    const { request, response, user } = visitor;
    const decision = form.single('decision');
    if (decision === 'deny') {
      await this.devices.deny(question);
      this.audit.done('consent.denied', { way: 'device' }, { request });
      sendPage(
        response,
        messagePage('Denied', 'The device gets no access. You can close this page.'),
      );
      return;
    }
    const choice = { group: form.single('group'), setup: form.single('setup') };
    if (decision === 'allow' && (await this.devices.allow(question, user, choice))) {
      this.audit.done('consent.given', { way: 'device' }, { request, actor: choice });
      const text = 'The device has access now and goes on by itself. You can close this page.';
      sendPage(response, messagePage('Done', text));
      return;
    }
    const fault = 'Choose one of your groups, a setup that it may use, and Allow or Deny.';
    sendPage(response, deviceConsentPage({ ...visitor, question, fault }));
  }

  private async signedIn(
    request: HttpRequest,
    response: HttpResponse,
    visit: Visit,
    work: (visitor: SignedInVisit) => Promise<void>,
  ): Promise<void> {
    const { user, session } = visit;
    if (user) {
      labelRequest(request, { user: user.name });
      await work({ request, response, user, csrfToken: session.csrfToken });
      return;
    }
    const page = loginPage({
      purpose: 'To connect a device, first say who you are.',
      providers: this.providers.list(),
      returnTo: request.method === 'GET' ? request.originalUrl : '/oauth2/device',
      csrfToken: session.csrfToken,
      isCertificateRefused: visit.isCertificateRefused,
    });
    sendPage(response, page);
  }
}
