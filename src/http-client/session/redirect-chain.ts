import { RequestException, TooManyRedirects } from '../message/errors.js';
import { setCookieHeader } from './preparation.js';
import type { PreparedRequest, Response } from '../message/messages.js';
import { dropBody, resolveLocation } from './redirects.js';
import { remainingSeconds } from '../message/time-limits.js';
import type { CookieJar } from '../message/cookies.js';
import type {
  MergeArguments,
  MergedSettings,
  Proxies,
  ProxyMap,
  RedirectOptions,
  SendOptions,
} from '../message/types.js';
import { splitFragment } from '../message/urls.js';

/** The operations of a session by which it follows redirects; each may be overridden. */
export interface RedirectingSession {
  readonly max_redirects: number;
  readonly cookies: CookieJar;
  get_redirect_target(response: Response): string | null;
  merge_environment_settings(url: string, ...given: MergeArguments): MergedSettings;
  rebuild_proxies(
    prepared: PreparedRequest,
    proxies?: Proxies | null,
    call_proxies?: Proxies | null,
  ): ProxyMap;
  rebuild_method(prepared: PreparedRequest, response: Response): void;
  rebuild_auth(prepared: PreparedRequest, response: Response): void;
  send(prepared: PreparedRequest, options?: SendOptions): Promise<Response>;
  resolve_redirects(
    response: Response,
    prepared: PreparedRequest,
    options: RedirectOptions & { yield_requests: true },
  ): AsyncGenerator<PreparedRequest, void, undefined>;
  resolve_redirects(
    response: Response,
    prepared: PreparedRequest,
    options?: RedirectOptions & { yield_requests?: false },
  ): AsyncGenerator<Response, void, undefined>;
}

/** What `Session.resolve_redirects` does; every step goes through the session's own operations. */
export async function* followRedirects(
  session: RedirectingSession,
  response: Response,
  prepared: PreparedRequest,
  options: RedirectOptions,
): AsyncGenerator<Response | PreparedRequest, void, undefined> {
  const { yield_requests, call_proxies = options.proxies, ...sending } = options;
  const startedAt = performance.now();
  const history = [...response.history];
  let fragment = splitFragment(prepared.url)[1];
  let current = response;
  let request = prepared;
  for (;;) {
    const location = session.get_redirect_target(current);
    if (location === null) return;
    history.push(current);
    if (!yield_requests) release(session, current, request, history.length);
    const url = resolveLocation(location, current.url, fragment);
    fragment = splitFragment(url)[1];
    request = await nextRequest(session, request, current, url);
    const merged = session.merge_environment_settings(url, call_proxies).proxies;
    const proxies = session.rebuild_proxies(request, merged, call_proxies);
    if (yield_requests) {
      yield request;
      return;
    }
    const deadline = remainingSeconds(options.deadline, startedAt);
    current = await session.send(request, {
      ...sending,
      proxies,
      deadline,
      call_proxies: call_proxies ?? null,
      allow_redirects: false,
    });
    current.history = [...history];
    current.next = null;
    yield current;
  }
}

/** The end of a redirect chain, or the redirect itself with its `next` when redirects are not to be followed. */
export async function redirected(
  session: RedirectingSession,
  response: Response,
  prepared: PreparedRequest,
  options: SendOptions,
): Promise<Response> {
  if (options.allow_redirects === false) {
    response.next = await firstRequest(session, response, prepared, options);
    return response;
  }
  let last = response;
  for await (const hop of session.resolve_redirects(response, prepared, {
    ...options,
    yield_requests: false,
  })) {
    last = hop;
  }
  return last;
}

/** A Location that leads nowhere is no fault while redirects are not followed. */
async function firstRequest(
  session: RedirectingSession,
  response: Response,
  prepared: PreparedRequest,
  options: SendOptions,
): Promise<PreparedRequest | null> {
  const requests = session.resolve_redirects(response, prepared, {
    ...options,
    yield_requests: true,
  });
  try {
    for await (const request of requests) return request;
  } catch (error) {
    if (!(error instanceof RequestException)) throw error;
  }
  return null;
}

function release(
  session: RedirectingSession,
  response: Response,
  request: PreparedRequest,
  hops: number,
): void {
  response.close();
  if (hops > session.max_redirects) {
    throw new TooManyRedirects(`more than ${session.max_redirects} redirects`, {
      request,
      response,
    });
  }
}

async function nextRequest(
  session: RedirectingSession,
  request: PreparedRequest,
  response: Response,
  url: string,
): Promise<PreparedRequest> {
  const next = request.copy();
  next.url = url;
  session.rebuild_method(next, response);
  dropBody(next, response);
  await setCookieHeader(next, session.cookies);
  session.rebuild_auth(next, response);
  return next;
}
