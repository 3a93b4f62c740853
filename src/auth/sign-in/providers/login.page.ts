import { markup, type Html } from '../pages/html.js';
import type { Page } from '../pages/page.js';

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
      ${refused}
      <h2>With your certificate</h2>
      <p class="soft">
        Install your personal certificate in this browser, close the browser, open this page again
        and choose the certificate when asked.
      </p>
      ${providerForms(view)}`,
  };
}

/** One button for each provider. */
export function providerForms(
  view: Pick<LoginView, 'providers' | 'csrfToken' | 'returnTo'>,
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
            <button type="submit" class="plain">${title}</button>
          </form>`,
      )}
    </div>`;
}
