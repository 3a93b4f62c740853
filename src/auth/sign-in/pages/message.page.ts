import { markup } from './html.js';
import type { Page } from './page.js';

/** A page that says one thing: an error, or that something is done. */
export function messagePage(title: string, text: string, status = 200): Page {
  return {
    title,
    status,
    body: markup`<h1>${title}</h1>
<p${status >= 400 ? markup` role="alert"` : undefined}>${text}</p>`,
  };
}
