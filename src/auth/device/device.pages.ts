import { Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { labelRequest, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import type { User } from '#src/registry/index.js';
import type { Authentication } from '../protocol/authentication.js';
import { RateLimits } from '../protocol/rate-limits.js';
import {
  authenticationOf,
  BrowserSessionsService,
  type SessionState,
} from '../sign-in/sessions/browser-sessions.service.js';
import { LoginProviders } from '../sign-in/providers/login-providers.js';
import { loginPage } from '../sign-in/providers/login.page.js';
import { messagePage } from '../sign-in/pages/message.page.js';
import { sendPage } from '../sign-in/pages/page.js';
import { deviceConsentPage, userCodePage } from './device.page.js';
import type { DeviceDecisionForm, DeviceQuery } from './device.request.js';
import { DeviceService, type DeviceQuestion } from './device.service.js';

const PATH = '/oauth2/device';
const NO_SUCH_CODE = 'This code is not known or has expired. Look at your device again.';

interface SignedInCall {
  request: HttpRequest;
  response: HttpResponse;
  user: User;
  csrfToken: string;
  authentication: Authentication | undefined;
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
  async ask(query: DeviceQuery, request: HttpRequest, response: HttpResponse): Promise<void> {
    const state = await this.sessions.resume(request, response);
    const { user_code: typed = '' } = query;
    await this.signedIn(request, response, state, async (call) => {
      if (typed === '') sendPage(response, userCodePage(call));
      else await this.lookUp(request, call, typed);
    });
  }

  /** The code or the decision. */
  async decide(
    form: DeviceDecisionForm,
    request: HttpRequest,
    response: HttpResponse,
  ): Promise<void> {
    const state = await this.sessions.resumeByForm(request, response, form);
    const { user_code: typed = '', decision } = form;
    if (decision === 'another') {
      const returnTo = `${PATH}?${new URLSearchParams({ user_code: typed }).toString()}`;
      this.sendLogin(response, state, { returnTo, isAnother: true });
      return;
    }
    await this.signedIn(request, response, state, async (call) => {
      const question = await this.lookUp(request, call, typed, decision !== undefined);
      if (question) await this.conclude(call, question, form);
    });
  }

  /** Shows the question; with `isDecided` answers it instead, for the decision to be carried out. */
  private async lookUp(
    request: HttpRequest,
    call: SignedInCall,
    typed: string,
    isDecided = false,
  ): Promise<DeviceQuestion | undefined> {
    const { response } = call;
    // Counted before the look-up, or many guesses at once would all be looked up (RFC 8628 §5.1).
    await this.limits.countUserCode(call.user.name);
    const question = await this.devices.question(typed, call.user);
    if (question) await this.limits.uncountUserCode(call.user.name);
    if (!question) {
      sendPage(response, userCodePage({ ...call, fault: NO_SUCH_CODE }));
      return undefined;
    }
    labelRequest(request, { client: question.client.id });
    if (isDecided) return question;
    if (question.choices.groups.length > 0) {
      sendPage(response, deviceConsentPage({ ...call, question }));
    } else {
      const text = 'None of your groups allows what the device asks for.';
      sendPage(response, messagePage('Not allowed', text, 403));
    }
    return undefined;
  }

  private async conclude(
    call: SignedInCall,
    question: DeviceQuestion,
    form: DeviceDecisionForm,
  ): Promise<void> {
    const { request, response } = call;
    const { decision, group, setup } = form;
    if (decision === 'deny') {
      await this.devices.deny(question);
      this.audit.done('consent.denied', { way: 'device' }, { request });
      sendPage(
        response,
        messagePage('Denied', 'The device gets no access. You can close this page.'),
      );
      return;
    }
    const choice = { group, setup };
    if (decision === 'allow' && (await this.devices.allow(question, call, choice))) {
      this.audit.done('consent.given', { way: 'device' }, { request, actor: choice });
      const text = 'The device has access now and goes on by itself. You can close this page.';
      sendPage(response, messagePage('Done', text));
      return;
    }
    const fault = 'Choose one of your groups, a setup that it may use, and Allow or Deny.';
    sendPage(response, deviceConsentPage({ ...call, question, fault }));
  }

  private async signedIn(
    request: HttpRequest,
    response: HttpResponse,
    state: SessionState,
    work: (call: SignedInCall) => Promise<void>,
  ): Promise<void> {
    const { user, session } = state;
    if (user) {
      labelRequest(request, { user: user.name });
      const authentication = authenticationOf(session);
      await work({ request, response, user, csrfToken: session.csrfToken, authentication });
      return;
    }
    const returnTo = request.method === 'GET' ? request.originalUrl : PATH;
    this.sendLogin(response, state, { returnTo });
  }

  private sendLogin(
    response: HttpResponse,
    state: SessionState,
    view: { returnTo: string; isAnother?: boolean },
  ): void {
    const page = loginPage({
      purpose: 'To connect a device, first say who you are.',
      providers: this.providers.list(),
      csrfToken: state.session.csrfToken,
      isCertificateRefused: state.isCertificateRefused,
      demoUsers: state.demoUsers,
      certificateUser: state.certificateUser?.name,
      ...view,
    });
    sendPage(response, page);
  }
}
