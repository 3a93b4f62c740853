import { demoProvider } from '../demo/demo-sign-in.js';
import { markup, type Html } from '../pages/html.js';
import type { Page } from '../pages/page.js';

const MAX_EXPECTED = 100;

/** An identity provider as the sign-in page names it. */
export interface ProviderChoice {
  name: string;
  title: string;
}

/** What the sign-in page shows. */
export interface LoginView {
  /** Why somebody should sign in, for example the application's name. */
  purpose: string;
  providers: readonly ProviderChoice[];
  /** Own path to come back to. */
  returnTo: string;
  csrfToken: string;
  isCertificateRefused: boolean;
  /** As whom one may go on in the demo. */
  demoUsers: readonly string[];
  /** Whose certificate the browser shows: they may go on with it. */
  certificateUser?: string | undefined;
  /** Whom the application expects, in its own words. */
  expected?: string | undefined;
  /** Somebody else is signed in: providers are to ask which account it is. */
  isAnother?: boolean;
}

/** Where to sign in: by certificate, or through an identity provider. */
export function loginPage(view: LoginView): Page {
  const refused = view.isCertificateRefused
    ? markup`<p class="note" role="alert">
        The certificate of your browser is not accepted here: it may be expired, or unknown to this
        service.
      </p>`
    : undefined;
  return {
    title: 'Sign in',
    status: view.isCertificateRefused ? 401 : 200,
    formTargets: ['https:'],
    body: markup`<h1>Sign in</h1>
      <p>${view.purpose}</p>
      ${
        view.expected !== undefined &&
        markup`<p>It expects <b>${view.expected.slice(0, MAX_EXPECTED)}</b>.</p>`
      }
      ${refused}
      ${demoForms(view)}
      <h2>With your certificate</h2>
      ${certificateForm(view)}
      ${providerForms(view)}`,
  };
}

/** In the demo: a button for each of its users. */
function demoForms({ demoUsers, csrfToken, returnTo }: LoginView): Html | undefined {
  if (demoUsers.length === 0) return undefined;
  const providers = demoUsers.map((name) => ({
    name: demoProvider(name),
    title: `Continue as ${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
  }));
  return providerForms({ providers, csrfToken, returnTo }, 'In this demo, without a certificate');
}

/** A button for the certificate that the browser shows, or how to get one into it. */
function certificateForm({ certificateUser, csrfToken, returnTo }: LoginView): Html {
  if (certificateUser === undefined) {
    return markup`<p class="soft">
        Install your personal certificate in this browser, close the browser, open this page again
        and choose the certificate when asked.
      </p>`;
  }
  return markup`<form method="post" action="/oauth2/login">
      <input type="hidden" name="csrf" value="${csrfToken}" />
      <input type="hidden" name="return" value="${returnTo}" />
      <button type="submit">Go on as ${certificateUser}</button>
    </form>
    <p class="soft">
      For another certificate, close the browser, open this page again and choose it.
    </p>`;
}

/** One button for each provider. */
function providerForms(
  view: Pick<LoginView, 'providers' | 'csrfToken' | 'returnTo' | 'isAnother'>,
  heading = 'With your institution',
): Html | undefined {
  if (view.providers.length === 0) return undefined;
  return markup`<h2>${heading}</h2>
    <div class="stack">
      ${view.providers.map(
        ({ name, title }) =>
          markup`<form method="post" action="/oauth2/login/${encodeURIComponent(name)}">
            <input type="hidden" name="csrf" value="${view.csrfToken}" />
            <input type="hidden" name="return" value="${view.returnTo}" />
            ${view.isAnother && markup`<input type="hidden" name="prompt" value="select_account" />`}
            <button type="submit" class="plain">${title}</button>
          </form>`,
      )}
    </div>`;
}
