import { isDictionary, requireArgument, requireText } from '../message/arguments.js';
import { attachAuth, authFromUrl } from '../message/auth.js';
import { prepareBody } from '../message/body.js';
import { ownCookies, type CookieJar } from '../message/cookies.js';
import { InvalidURL } from '../message/errors.js';
import { checkHeader, TOKEN } from '../message/header-check.js';
import { encodeParams, mergeParams } from '../message/fields.js';
import { mergeHooks } from './hooks.js';
import { netrcAuth } from './netrc.js';
import { PreparedRequest } from '../message/messages.js';
import { shouldStripAuth } from './redirects.js';
import { CaseInsensitiveDict, isIterable, itemsOf } from '../message/structures.js';
import type { Auth, Hooks, Params, RequestHeaders, RequestLike } from '../message/types.js';
import { prepareUrl } from '../message/urls.js';

/** What a session contributes to a request. */
export interface PreparationDefaults {
  headers: CaseInsensitiveDict<string | null>;
  params: Params;
  cookies: CookieJar;
  auth: Auth | null;
  hooks: Hooks;
  /** Whether .netrc may name credentials. */
  netrc: boolean;
}

/** Prepares a request: method, URL, headers, cookies, body, hooks, and authentication last. */
export async function prepareRequest(
  request: RequestLike,
  defaults: PreparationDefaults,
): Promise<PreparedRequest> {
  const { method, url } = checkedRequest(request);
  const query = encodeParams(mergeParams(request.params, defaults.params));
  const prepared = new PreparedRequest({
    method: preparedMethod(method),
    url: prepareUrl(url, query),
    headers: mergeHeaders(request.headers, defaults.headers),
    hooks: mergeHooks(request.hooks, defaults.hooks),
  });
  prepared.uses_netrc = defaults.netrc;
  const { body, contentType } = prepareBody(request);
  prepared.body = body;
  if (contentType !== null && !prepared.headers.has('Content-Type')) {
    prepared.headers.set('Content-Type', contentType);
  }
  prepared.prepare_content_length();
  await prepareCookies(prepared, request, defaults.cookies);
  const auth = request.auth ?? defaults.auth ?? fallbackAuth(prepared, defaults.netrc);
  if (auth) await attachAuth(prepared, auth);
  return prepared;
}

/** Throws TypeError for what is no request. */
function checkedRequest(request: RequestLike): RequestLike {
  const isRequest = isDictionary(request) && 'method' in request && 'url' in request;
  requireArgument(request, { operation: 'prepare_request', name: 'request', fits: isRequest });
  const { method, url } = request;
  requireText('request', 'method', method);
  const isUrl = typeof url === 'string' || url instanceof URL;
  requireArgument(url, { operation: 'request', name: 'url', fits: isUrl });
  return request;
}

/**
 * Replaces the Cookie header with what the jar and the request's own cookies hold for its URL. Cookies that nobody tied
 * to a host stay, like Authorization, where the request began.
 */
export async function setCookieHeader(prepared: PreparedRequest, jar: CookieJar): Promise<void> {
  const { url, first_url: first } = prepared;
  prepared.headers.delete('Cookie');
  const isHome = url === first || !shouldStripAuth(first, url);
  const header = await jar.cookie_header(url, isHome ? prepared.own_cookies : 'stored alone');
  if (header !== undefined) prepared.headers.set('Cookie', header);
}

/** Session headers first, then the request's; null removes. Throws InvalidHeader. */
function mergeHeaders(
  request: RequestHeaders | null | undefined,
  session: CaseInsensitiveDict<string | null>,
): CaseInsensitiveDict {
  const merged = new CaseInsensitiveDict();
  const items = itemsOf(merged);
  for (const [lower, entry] of itemsOf(session)) {
    if (entry[1] === null || entry[1] === undefined) continue;
    if (!checkedEntries.has(entry)) checkEntry(entry);
    items.set(lower, [entry[0], entry[1]]);
  }
  if (request) {
    const pairs = isIterable(request) ? request : Object.entries(request);
    for (const [name, value] of pairs as Iterable<[string, string | null | undefined]>) {
      setHeader(items, name, value);
    }
  }
  return merged;
}

/** Headers as a session keeps them: null for those that are not to be sent. */
export function definedHeaders(source: RequestHeaders): [string, string | null][] {
  const pairs = isIterable(source) ? source : Object.entries(source);
  return [...(pairs as Iterable<[string, string | null | undefined]>)].map(([name, value]) => [
    name,
    value ?? null,
  ]);
}

/** Entries of sessions that have been checked: setting a header makes a new entry, so each is checked once. */
const checkedEntries = new WeakSet<[string, string | null]>();

function checkEntry(entry: [string, string | null]): void {
  checkHeader(entry[0], entry[1]);
  checkedEntries.add(entry);
}

function setHeader(
  items: Map<string, [string, string]>,
  name: string,
  value: string | null | undefined,
): void {
  if (value === null || value === undefined) {
    items.delete(name.toLowerCase());
    return;
  }
  checkHeader(name, value);
  items.set(name.toLowerCase(), [name, value]);
}

/** A hand-set Cookie header stays as it is; otherwise the jar and the request's own cookies make it. */
async function prepareCookies(
  prepared: PreparedRequest,
  request: RequestLike,
  jar: CookieJar,
): Promise<void> {
  if (!request.cookies && jar.isEmpty) return;
  if (!/^https?:/i.test(prepared.url)) return;
  const values = await ownCookies(request.cookies, prepared.url);
  if (values) prepared.own_cookies = values;
  if (!prepared.headers.has('Cookie')) await setCookieHeader(prepared, jar);
}

/** .netrc never replaces an Authorization header that the caller set; user and password in the URL do. */
function fallbackAuth(prepared: PreparedRequest, netrc: boolean): Auth | null {
  if (netrc && !prepared.headers.has('Authorization')) {
    const found = netrcAuth(prepared.url);
    if (found) return found;
  }
  return prepared.url.includes('@') ? authFromUrl(new URL(prepared.url)) : null;
}

function preparedMethod(method: string): string {
  const upper = method.toUpperCase();
  if (!TOKEN.test(upper)) throw new InvalidURL('the method is not a word that HTTP allows');
  return upper;
}
