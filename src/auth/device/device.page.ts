import type { User } from '#src/registry/index.js';
import { clientTitle, consentFields, signedInUser } from '../sign-in/pages/consent-form.js';
import { markup } from '../sign-in/pages/html.js';
import type { Page } from '../sign-in/pages/page.js';
import type { DeviceQuestion } from './device.service.js';
import { showUserCode } from './user-code.js';

/** Asks for the code that the device shows. */
export function userCodePage(view: { user: User; csrfToken: string; fault?: string }): Page {
  const { user, csrfToken, fault } = view;
  return {
    title: 'Connect a device',
    status: fault === undefined ? 200 : 400,
    body: markup`<h1>Connect a device</h1>
      <p>Type the code that your device or program shows.</p>
      ${signedInUser(user)}
      ${fault === undefined ? undefined : markup`<p class="note" role="alert" id="fault">${fault}</p>`}
      <form method="post" action="/oauth2/device">
        <input type="hidden" name="csrf" value="${csrfToken}" />
        <fieldset>
          <label class="field" for="user_code">Code</label>
          <input
            type="text"
            id="user_code"
            name="user_code"
            required
            maxlength="20"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
            placeholder="BCDF-GHJK"
            ${fault === undefined ? undefined : markup` aria-invalid="true" aria-describedby="fault"`}
            autofocus
          />
        </fieldset>
        <div class="actions"><button type="submit">Continue</button></div>
      </form>`,
  };
}

/** Asks whether the device may act, for which group and in which setup. */
export function deviceConsentPage(view: {
  user: User;
  csrfToken: string;
  question: DeviceQuestion;
  fault?: string;
}): Page {
  const { user, csrfToken, question, fault } = view;
  const code = showUserCode(question.device.userCode);
  return {
    title: `${question.client.name} asks for access`,
    status: fault === undefined ? 200 : 400,
    body: markup`${clientTitle(question.client)}
      <p>Go on only if you started this yourself and your device shows this code:</p>
      <p class="code">${code}</p>
      ${signedInUser(user)}
      ${fault === undefined ? undefined : markup`<p class="note" role="alert">${fault}</p>`}
      <form method="post" action="/oauth2/device">
        <input type="hidden" name="csrf" value="${csrfToken}" />
        <input type="hidden" name="user_code" value="${code}" />
        ${consentFields(question.choices)}
      </form>`,
  };
}
