import { markup } from '../sign-in/pages/html.js';
import { cspSource, type Page } from '../sign-in/pages/page.js';
import type { LogoutQuery } from './logout.request.js';

/** Asks whether to sign out; the form brings the request back. */
export function logoutPage(view: { user: string; csrfToken: string; form: LogoutQuery }): Page {
  const { post_logout_redirect_uri: place } = view.form;
  const fields = {
    csrf: view.csrfToken,
    id_token_hint: view.form.id_token_hint,
    client_id: view.form.client_id,
    post_logout_redirect_uri: place,
    state: view.form.state,
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    title: 'Sign out',
    formTargets: place === undefined ? [] : [cspSource(place)],
    body: markup`<h1>Sign out?</h1>
      <p>You are signed in as <b>${view.user}</b>. To stay so, close this page.</p>
      <form method="post" action="/oauth2/logout" class="actions">
        ${given.map(([name, value]) => markup`<input type="hidden" name="${name}" value="${value}" />`)}
        <button type="submit">Sign out</button>
      </form>`,
  };
}
