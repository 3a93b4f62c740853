import type { HttpRequest, HttpResponse } from './messages.js';
import { accepts } from './accepted-type.js';

/** Nothing of it needs anything from anywhere. */
const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>No such page</title>
</head>
<body>
<main>
<h1>No such page</h1>
<p>There is nothing at this address. Perhaps a letter of it is missing.</p>
<p><a href="/">Go to the start page</a></p>
</main>
</body>
</html>
`;

/** Answers a browser that has followed a wrong address; false for programs, which get the problem document. */
export function tellBrowser(request: HttpRequest, response: HttpResponse): boolean {
  response.vary('Accept');
  if (request.method !== 'GET' || !accepts(request, 'text/html', 'application/problem+json')) {
    return false;
  }
  response.statusCode = 404;
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.end(PAGE);
  return true;
}
