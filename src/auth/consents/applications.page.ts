import type { User } from '#src/registry/index.js';
import { signedInUser } from '../sign-in/pages/consent-form.js';
import { markup } from '../sign-in/pages/html.js';
import type { Page } from '../sign-in/pages/page.js';

/** An application that a user has let in. */
export interface AllowedApplication {
  clientId: string;
  name: string;
  /** `group in setup`, each once. */
  places: string[];
  since: Date;
  lastUsed: Date;
}

/** Lists the applications that a user has let in, each with a way to turn it away. */
export function applicationsPage(view: {
  user: User;
  applications: readonly AllowedApplication[];
  csrfToken: string;
  note?: string;
}): Page {
  const { user, applications, csrfToken, note } = view;
  const list = applications.map(
    (client) =>
      markup`<li>
        <div>
          <b>${client.name}</b>
          <p class="soft">${client.places.join(', ')}</p>
          <p class="soft">since ${day(client.since)}, last used ${day(client.lastUsed)}</p>
        </div>
        <form method="post" action="/oauth2/applications">
          <input type="hidden" name="csrf" value="${csrfToken}">
          <input type="hidden" name="client_id" value="${client.clientId}">
          <button type="submit" class="plain small" aria-label="Withdraw access of ${client.name}">Withdraw</button>
        </form>
      </li>`,
  );
  return {
    title: 'Your applications',
    body: markup`<h1>Your applications</h1>
      ${signedInUser(user)} ${note === undefined ? undefined : markup`<p role="status">${note}</p>`}
      ${
        list.length === 0
          ? markup`<p>No application may act for you.</p>`
          : markup`<ul class="apps">
              ${list}
            </ul>`
      }
      <form method="post" action="/oauth2/logout" class="actions">
        <input type="hidden" name="csrf" value="${csrfToken}" />
        <button type="submit" class="plain">Sign out</button>
      </form>`,
  };
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
