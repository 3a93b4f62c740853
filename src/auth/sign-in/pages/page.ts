import { createHash } from 'node:crypto';
import type { HttpResponse } from '#src/http/index.js';
import { markup, Html } from './html.js';
import { STYLE } from './style.js';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const MARK = new Html(
  '<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" aria-hidden="true">' +
    '<path d="M5 27V12a11 11 0 0 1 22 0v15M12 27V13M20 27V13M5 19h22"/></svg>',
);

/** A page of the authorization server. */
export interface Page {
  title: string;
  body: Html;
  /** HTTP status; 200 when absent. */
  status?: number;
  /** Where forms of the page may lead, by redirects too, beside the service itself (CSP form-action). */
  formTargets?: readonly string[];
}

/** Sends a page: no scripts, no frames, nothing from elsewhere, never stored. */
export function sendPage(response: HttpResponse, page: Page): void {
  const targets = ["'self'", ...(page.formTargets ?? [])].join(' ');
  response.statusCode = page.status ?? 200;
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; form-action ${targets}; ` +
      `base-uri 'none'; frame-ancestors 'none'`,
  );
  response.end(response.req.method === 'HEAD' ? undefined : documentOf(page).text);
}

/** Sends the browser elsewhere; after a form it always asks with GET (RFC 9700 §4.12). */
export function sendRedirect(response: HttpResponse, location: string): void {
  response.statusCode = response.req.method === 'POST' ? 303 : 302;
  response.setHeader('Location', location);
  response.setHeader('Cache-Control', 'no-store');
  response.end();
}

/** A CSP source for the place of a URI: its origin, or its scheme when it is an application's own. */
export function cspSource(uri: string): string {
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : protocol;
}

function documentOf({ title, body }: Page): Html {
  return markup`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <title>${title} · Gridgate</title>
        <style>${new Html(STYLE)}</style>
      </head>
      <body>
        <header>${MARK}<span>Gridgate</span></header>
        <main>${body}</main>
        <footer>Gridgate never asks for your password or your private key.</footer>
      </body>
    </html> `;
}
