import type { Client, User } from '#src/registry/index.js';
import {
  consentFields,
  clientTitle,
  signedInUser,
  type ConsentChoices,
} from '../sign-in/pages/consent-form.js';
import { markup } from '../sign-in/pages/html.js';
import { cspSource, type Page } from '../sign-in/pages/page.js';

/** What the consent page shows. */
export interface ConsentView {
  client: Client;
  user: User;
  choices: ConsentChoices;
  redirectUri: string;
  csrfToken: string;
  /** Path and query of the authorization request; the form is sent to it. */
  action: string;
  fault?: string;
}

/** Asks the user whether the application may act, for which group and in which setup. */
export function consentPage(view: ConsentView): Page {
  const { client, user, choices, redirectUri } = view;
  const place = new URL(redirectUri);
  const target = place.host === '' ? place.protocol : place.host;
  return {
    title: `${client.name} asks for access`,
    status: view.fault === undefined ? 200 : 400,
    formTargets: [cspSource(redirectUri)],
    body: markup`${clientTitle(client)}
      <p class="soft">Your answer is sent to <b>${target}</b>.</p>
      ${signedInUser(user)}
      ${view.fault === undefined ? undefined : markup`<p class="note" role="alert">${view.fault}</p>`}
      <form method="post" action="${view.action}">
        <input type="hidden" name="csrf" value="${view.csrfToken}" />
        ${consentFields(choices)}
      </form>`,
  };
}
