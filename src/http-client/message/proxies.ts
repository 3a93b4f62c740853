import { BlockList, isIP } from 'node:net';
import { basicAuthorization } from './auth.js';
import { environmentProxy, environmentNoProxy } from './environment.js';
import { InvalidProxyURL } from './errors.js';
import type { PreparedRequest } from './messages.js';
import type { Proxies, ProxyMap } from './types.js';

const AUTHORITY = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#\\]*@)?(\[[^\]]*\]|[^/?#\\:]*)(?::(\d*))?/i;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i;
const CIDR = /^([0-9a-f.:]+)\/(\d{1,3})$/i;

/**
 * The proxy for a URL from a map, by the first of the keys `scheme://host`, `scheme`, `all://host`, `all`; undefined
 * when none applies. An entry that is null says: no proxy, and stops the search.
 */
export function select_proxy(url: string, proxies: Proxies | null | undefined): string | undefined {
  if (!proxies || isEmpty(proxies)) return undefined;
  const parts = AUTHORITY.exec(url);
  const scheme = (parts?.[1] ?? /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1] ?? '').toLowerCase();
  const host = parts?.[2]?.toLowerCase() ?? '';
  const keys = host ? [`${scheme}://${host}`, scheme, `all://${host}`, 'all'] : [scheme, 'all'];
  for (const key of keys) {
    const proxy = proxies[key];
    if (proxy) return proxy;
    if (proxy === null) return undefined;
  }
  return undefined;
}

/**
 * True when a URL is to be reached without a proxy. `no_proxy` (else the environment's) is a comma list of host
 * names (which cover their sub-domains, with or without leading dot or `*.`), `host:port`, IP addresses, CIDR blocks of
 * IPv4 (masks 1 to 32) or IPv6, or `*` for everything. A URL without host is never proxied.
 */
export function should_bypass_proxies(url: string, no_proxy?: string | null): boolean {
  const parts = AUTHORITY.exec(url);
  const host = parts?.[2]?.toLowerCase().replace(/^\[|\]$/g, '') ?? '';
  if (host === '') return true;
  const list = no_proxy ?? environmentNoProxy();
  if (!list) return false;
  const hostAndPort = parts?.[3] ? `${host}:${parts[3]}` : host;
  return list
    .replace(/\s/g, '')
    .toLowerCase()
    .split(',')
    .some((entry) => entry !== '' && entryCovers(entry, host, hostAndPort));
}

/** Layers of proxies from high to low: the first that names a key decides, null removes it. */
export function mergeProxies(...layers: readonly (Proxies | null | undefined)[]): ProxyMap {
  const merged: Record<string, string | null> = {};
  for (const layer of layers) {
    if (!layer) continue;
    for (const key in layer)
      if (!(key in merged) && layer[key] !== undefined) merged[key] = layer[key];
  }
  for (const key in merged) if (merged[key] === null) delete merged[key];
  return merged as ProxyMap;
}

/**
 * The proxies for a request that has moved to another URL. What no_proxy covers loses its proxies, except those in
 * `pinned`, which the call itself named; otherwise the environment fills in what is missing. The
 * Proxy-Authorization header is replaced to fit; for https it is left to the CONNECT request.
 */
export function rebuildProxies(
  prepared: PreparedRequest,
  proxies: Proxies | null | undefined,
  settings: {
    trust_env: boolean;
    pinned?: Proxies | null | undefined;
    no_proxy?: string | null | undefined;
  },
): ProxyMap {
  const { trust_env, pinned } = settings;
  const scheme = prepared.url.slice(0, prepared.url.indexOf(':')).toLowerCase();
  const noProxy = pinned?.['no_proxy'] ?? proxies?.['no_proxy'] ?? settings.no_proxy;
  let rebuilt: ProxyMap;
  if (!trust_env) rebuilt = mergeProxies(pinned, proxies);
  else if (should_bypass_proxies(prepared.url, noProxy)) rebuilt = mergeProxies(pinned);
  else rebuilt = mergeProxies(pinned, proxies, { [scheme]: environmentProxy(scheme) });
  prepared.headers.delete('Proxy-Authorization');
  if (scheme !== 'https') {
    const proxy = select_proxy(prepared.url, rebuilt);
    const credentials = proxy ? proxyCredentials(parseProxyUrl(proxy)) : undefined;
    if (credentials) prepared.headers.set('Proxy-Authorization', credentials);
  }
  return rebuilt;
}

/** A proxy URL; without scheme http is meant. Throws InvalidProxyURL when it has no host or an unknown scheme. */
export function parseProxyUrl(proxy: string): URL {
  const text = HAS_SCHEME.test(proxy) ? proxy : `http://${proxy.replace(/^\/\//, '')}`;
  const [, scheme = '', host] = AUTHORITY.exec(text) ?? [];
  if (!/^https?$/i.test(scheme)) {
    throw new InvalidProxyURL(`proxies of kind ${scheme} are not supported`);
  }
  if (!host || !URL.canParse(text)) {
    throw new InvalidProxyURL('the URL of the proxy cannot be parsed or has no host');
  }
  return new URL(text);
}

/** The Proxy-Authorization for the user and password in a proxy's URL, if it has any. */
export function proxyCredentials(proxy: URL): string | undefined {
  if (proxy.username === '') return undefined;
  return basicAuthorization(unescape(proxy.username), unescape(proxy.password));
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function entryCovers(entry: string, host: string, hostAndPort: string): boolean {
  if (entry === '*') return true;
  const family = isIP(host);
  if (family !== 0) {
    return entry.replace(/^\[|\]$/g, '') === host || inBlock(entry, host, family);
  }
  const name = entry.replace(/^\*(?=\.)/, '').replace(/^\.+/, '');
  if (name === '') return false;
  for (const candidate of [host, hostAndPort]) {
    if (candidate === name || candidate.endsWith(`.${name}`)) return true;
  }
  return false;
}

function inBlock(entry: string, address: string, family: number): boolean {
  const [, network, bits] = CIDR.exec(entry) ?? [];
  if (network === undefined || isIP(network) !== family) return false;
  const prefix = Number(bits);
  if (prefix < 1 || prefix > (family === 4 ? 32 : 128)) return false;
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const block = new BlockList();
  block.addSubnet(network, prefix, kind);
  return block.check(address, kind);
}

function isEmpty(map: Proxies): boolean {
  for (const _key in map) return false;
  return true;
}
