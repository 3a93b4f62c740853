import { Inject, Injectable } from '@nestjs/common';
import { Audit, labelRequest, type HttpRequest, type HttpResponse } from '#src/platform/index.js';
import type { User } from '#src/registry/index.js';
import { ClientsService } from '../clients/clients.service.js';
import { RateLimits } from '../protocol/rate-limits.js';
import {
  BrowserSessionsService,
  type Visit,
} from '../sign-in/sessions/browser-sessions.service.js';
import { loginPage } from '../sign-in/providers/login.page.js';
import { LoginProviders } from '../sign-in/providers/login-providers.js';
import { messagePage } from '../sign-in/pages/message.page.js';
import { sendPage } from '../sign-in/pages/page.js';
import { formOf, withErrorPage } from '../sign-in/pages/visitors.js';
import { applicationsPage, type AllowedApplication } from './applications.page.js';
import { ConsentsService } from '../stores/consents.service.js';

const PATH = '/oauth2/applications';

/** The page on which users see and withdraw what they have allowed. */
@Injectable()
export class ApplicationsPages {
  @Inject() private readonly limits!: RateLimits;
  @Inject() private readonly audit!: Audit;

  constructor(
    private readonly sessions: BrowserSessionsService,
    private readonly providers: LoginProviders,
    private readonly consents: ConsentsService,
    private readonly clients: ClientsService,
  ) {}

  /** The list. */
  async show(request: HttpRequest, response: HttpResponse): Promise<void> {
    await withErrorPage(response, async () => {
      await this.limits.count('authorize', request);
      const visit = await this.sessions.visit(request, response);
      if (visit.user) await this.sendList(response, visit, visit.user);
      else this.sendLogin(response, visit);
    });
  }

  /** Withdraws what one application was allowed. */
  async withdraw(request: HttpRequest, response: HttpResponse): Promise<void> {
    await withErrorPage(response, async () => {
      await this.limits.count('authorize', request);
      const form = await formOf(request);
      const visit = await this.sessions.visitOfForm(request, response, form.single('csrf'));
      const { user } = visit;
      if (!user) {
        this.sendLogin(response, visit);
        return;
      }
      const clientId = form.single('client_id') ?? '';
      labelRequest(request, { user: user.name, client: clientId });
      const isDone = await this.consents.withdraw(user.name, clientId);
      if (isDone) this.audit.done('consent.withdrawn', {}, { request });
      const note = isDone
        ? 'Access is withdrawn. It takes effect at once.'
        : 'There was nothing to withdraw.';
      await this.sendList(response, visit, user, note);
    });
  }

  /** Ends the browser's session. */
  async signOut(request: HttpRequest, response: HttpResponse): Promise<void> {
    await withErrorPage(response, async () => {
      const form = await formOf(request);
      const visit = await this.sessions.visitOfForm(request, response, form.single('csrf'));
      await this.sessions.signOut(response, visit.session);
      if (visit.user) {
        this.audit.done('user.signed-out', {}, { request, actor: { user: visit.user.name } });
      }
      sendPage(response, messagePage('Signed out', 'You can close this page.'));
    });
  }

  private async sendList(
    response: HttpResponse,
    { session }: Visit,
    user: User,
    note?: string,
  ): Promise<void> {
    const page = applicationsPage({
      user,
      applications: await this.applicationsOf(user),
      csrfToken: session.csrfToken,
      maySignOut: session.method === 'provider',
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

  private sendLogin(response: HttpResponse, visit: Visit): void {
    const page = loginPage({
      purpose: 'To see which applications may act for you, first say who you are.',
      providers: this.providers.list(),
      returnTo: PATH,
      csrfToken: visit.session.csrfToken,
      isCertificateRefused: visit.isCertificateRefused,
    });
    sendPage(response, page);
  }
}
