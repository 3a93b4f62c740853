import { OAuthProblem, Problem } from '#src/kernel/index.js';
import {
  readForm,
  type HttpRequest,
  type HttpResponse,
  type QueryValues,
} from '#src/platform/index.js';
import { messagePage } from './message.page.js';
import { sendPage } from './page.js';

// A form of these pages has a handful of short fields.
const MAX_FORM_BYTES = 16 * 1024;

/** The fields of a form of the pages. Throws Problem 400, 413 or 415. */
export async function formOf(request: HttpRequest): Promise<QueryValues> {
  return readForm(request, MAX_FORM_BYTES);
}

/** Runs the work of a page; what the visitor did wrong is told on a page, everything else like everywhere. */
export async function withErrorPage(
  response: HttpResponse,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500 || response.headersSent) throw error;
    if (error.retryAfterSeconds !== undefined) {
      response.setHeader('Retry-After', String(error.retryAfterSeconds));
    }
    const title =
      error instanceof OAuthProblem && error.status === 403 ? 'Not allowed' : 'This does not work';
    sendPage(response, messagePage(title, `${error.detail}.`, error.status));
  }
}
