import { Injectable } from '@nestjs/common';
import { Audit } from '#src/audit/index.js';
import type { HttpRequest, HttpResponse } from '#src/http/index.js';
import { IdTokens, type IdTokenHint } from '../bearer/id-token.js';
import { ClientsService } from '../clients/clients.service.js';
import { isRegisteredRedirect, withParameters } from '../protocol/redirect-uri.js';
import { messagePage } from '../sign-in/pages/message.page.js';
import { PageError } from '../sign-in/pages/page-error.js';
import { sendPage, sendRedirect } from '../sign-in/pages/page.js';
import { BrowserSessionsService } from '../sign-in/sessions/browser-sessions.service.js';
import { logoutPage } from './logout.page.js';
import type { LogoutForm } from './logout.request.js';

/** A request that leads nowhere: who asks, or where to go on, is not proved. */
class UnprovedLogoutError extends PageError {
  constructor(message: string) {
    super('This request cannot be trusted', `${message} You are as signed in as before.`, 400);
  }
}

/** The pages of /oauth2/logout. */
@Injectable()
export class LogoutPages {
  constructor(
    private readonly sessions: BrowserSessionsService,
    private readonly clients: ClientsService,
    private readonly idTokens: IdTokens,
    private readonly audit: Audit,
  ) {}

  /**
   * Ends the session of the browser when its user has confirmed it or the application shows an ID token of this very
   * session, else asks. Then the browser goes on where the application wants, if that is registered; else nothing is done.
   * The form of an application on another site comes without cookies, so the browser brings it again as an address.
   */
  async leave(form: LogoutForm, request: HttpRequest, response: HttpResponse): Promise<void> {
    const hint = form.id_token_hint && (await this.idTokens.read(form.id_token_hint));
    const location = await this.placeAfter(form, hint || undefined);
    const { csrf } = form;
    if (request.method === 'POST' && csrf === undefined && !this.sessions.hasCookie(request)) {
      sendRedirect(response, addressOf(form));
      return;
    }
    const { session, user } =
      csrf === undefined
        ? await this.sessions.resume(request, response)
        : await this.sessions.resumeByForm(request, response, { csrf });
    if (user) {
      const { sid, csrfToken } = session;
      const isKnown = hint && hint.sid !== undefined && hint.sid === sid;
      if (csrf === undefined && !isKnown) {
        sendPage(response, logoutPage({ user: user.name, csrfToken, form }));
        return;
      }
      await this.sessions.signOut(response, session);
      this.audit.done('user.signed-out', {}, { request, actor: { user: user.name } });
    }
    if (location !== undefined) sendRedirect(response, location);
    else sendPage(response, messagePage('Signed out', 'You can close this page.'));
  }

  /** Where to go on; undefined when nothing is said. Throws UnprovedLogoutError for what is not registered. */
  private async placeAfter(
    form: LogoutForm,
    hint: IdTokenHint | undefined,
  ): Promise<string | undefined> {
    const { client_id: named, post_logout_redirect_uri: uri, state } = form;
    if (hint && named !== undefined && named !== hint.aud) {
      throw new UnprovedLogoutError('client_id and id_token_hint are of different applications.');
    }
    if (uri === undefined) return undefined;
    const clientId = hint?.aud ?? named;
    const client = clientId === undefined ? undefined : await this.clients.find(clientId);
    const { postLogoutRedirectUris: redirectUris = [] } = client ?? {};
    if (!client || !isRegisteredRedirect({ ...client, redirectUris }, uri)) {
      throw new UnprovedLogoutError('post_logout_redirect_uri is not registered for it.');
    }
    return state === undefined ? uri : withParameters(uri, { state });
  }
}

function addressOf(form: LogoutForm): string {
  const given = Object.entries(form).filter(([, value]) => value !== undefined);
  return `/oauth2/logout?${new URLSearchParams(given).toString()}`;
}
