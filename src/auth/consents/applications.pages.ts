import { Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import { labelRequest, type HttpRequest, type HttpResponse } from '#src/http/index.js';
import type { User } from '#src/registry/index.js';
import { ClientsService } from '../clients/clients.service.js';
import {
  BrowserSessionsService,
  type SessionState,
} from '../sign-in/sessions/browser-sessions.service.js';
import { loginPage } from '../sign-in/providers/login.page.js';
import { LoginProviders } from '../sign-in/providers/login-providers.js';
import { sendPage } from '../sign-in/pages/page.js';
import type { WithdrawForm } from './applications.request.js';
import { applicationsPage, type AllowedApplication } from './applications.page.js';
import { ConsentsService } from '../stores/consents.service.js';

const PATH = '/oauth2/applications';

/** The page on which users see and withdraw what they have allowed. */
@Injectable()
export class ApplicationsPages {
  constructor(
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly consents: ConsentsService,
    private readonly clients: ClientsService,
    private readonly audit: Audit,
  ) {}

  /** The list. */
  async show(request: HttpRequest, response: HttpResponse): Promise<void> {
    const state = await this.sessions.resume(request, response);
    if (state.user) await this.sendList(response, state, state.user);
    else this.sendLogin(response, state);
  }

  /** Withdraws what one application was allowed. */
  async withdraw(form: WithdrawForm, request: HttpRequest, response: HttpResponse): Promise<void> {
    const state = await this.sessions.resumeByForm(request, response, form);
    const { user } = state;
    if (!user) {
      this.sendLogin(response, state);
      return;
    }
    const { client_id: clientId = '' } = form;
    labelRequest(request, { user: user.name, client: clientId });
    const isDone = await this.consents.withdraw(user.name, clientId);
    if (isDone) this.audit.done('consent.withdrawn', {}, { request });
    const note = isDone
      ? 'Access is withdrawn. It takes effect at once.'
      : 'There was nothing to withdraw.';
    await this.sendList(response, state, user, note);
  }

  private async sendList(
    response: HttpResponse,
    { session }: SessionState,
    user: User,
    note?: string,
  ): Promise<void> {
    const page = applicationsPage({
      user,
      applications: await this.applicationsOf(user),
      csrfToken: session.csrfToken,
      ...(note !== undefined && { note }),
    });
    sendPage(response, page);
  }

  private async applicationsOf(user: User): Promise<AllowedApplication[]> {
    const found = new Map<string, AllowedApplication>();
    for (const consent of await this.consents.ofUser(user.name)) {
      const { clientId, createdAt, usedAt } = consent;
      const place = `${consent.group} in ${consent.setup}`;
      const known = found.get(clientId);
      if (!known) {
        const name = (await this.clients.find(clientId))?.name ?? clientId;
        found.set(clientId, {
          clientId,
          name,
          places: [place],
          since: createdAt,
          lastUsed: usedAt,
        });
        continue;
      }
      if (!known.places.includes(place)) known.places.push(place);
      if (createdAt < known.since) known.since = createdAt;
    }
    return [...found.values()];
  }

  private sendLogin(response: HttpResponse, state: SessionState): void {
    const page = loginPage({
      purpose: 'To see which applications may act for you, first say who you are.',
      providers: this.providers.list(),
      returnTo: PATH,
      csrfToken: state.session.csrfToken,
      isCertificateRefused: state.isCertificateRefused,
      demoUsers: state.demoUsers,
      certificateUser: state.certificateUser?.name,
    });
    sendPage(response, page);
  }
}
