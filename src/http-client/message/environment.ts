import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ProxyMap } from './types.js';

/**
 * Everything this room takes from the environment. Variables are read anew for every call (a read costs about
 * 0.15 µs), so that changes count at once.
 */
const PROXY_VARIABLES: Readonly<Record<string, readonly [lower: string, upper: string]>> = {
  http: ['http_proxy', 'HTTP_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY'],
  all: ['all_proxy', 'ALL_PROXY'],
};

/** The proxies that the environment names, by scheme; the lower-case name wins, empty values count as absent. */
export function environmentProxies(): ProxyMap {
  const proxies: ProxyMap = {};
  for (const scheme in PROXY_VARIABLES) {
    const proxy = readProxy(scheme);
    if (proxy) proxies[scheme] = proxy;
  }
  return proxies;
}

/** The proxy for one scheme: `<scheme>_proxy`, else `all_proxy`. */
export function environmentProxy(scheme: string): string | undefined {
  return readProxy(scheme) ?? readProxy('all');
}

/** The environment's no_proxy list. */
export function environmentNoProxy(): string | undefined {
  return process.env['no_proxy'] || process.env['NO_PROXY'] || undefined;
}

/** The CA bundle that the environment names: REQUESTS_CA_BUNDLE, then CURL_CA_BUNDLE. */
export function environmentCaBundle(): string | undefined {
  return process.env['REQUESTS_CA_BUNDLE'] || process.env['CURL_CA_BUNDLE'] || undefined;
}

/** Where .netrc may be: NETRC alone when it is set, else ~/.netrc and ~/_netrc. */
export function netrcPaths(): string[] {
  const named = process.env['NETRC'];
  const home = homeDirectory();
  if (named) return [home === undefined ? named : expandHome(named, home)];
  return home === undefined ? [] : [join(home, '.netrc'), join(home, '_netrc')];
}

/** A user that is only a number (in a container) may have no home. */
function homeDirectory(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** True when the process says that it runs in production. */
export function isProduction(): boolean {
  return process.env['NODE_ENV'] === 'production';
}

/** HTTP_PROXY in a CGI process may come from a client's `Proxy` header, so it does not count there. */
function readProxy(scheme: string): string | undefined {
  const [lower, upper] = PROXY_VARIABLES[scheme] ?? [`${scheme}_proxy`, `${scheme}_PROXY`];
  const { env } = process;
  const proxy = env[lower];
  if (proxy !== undefined) return proxy || undefined;
  if (scheme === 'http' && env['REQUEST_METHOD'] !== undefined) return undefined;
  return env[upper] || undefined;
}

function expandHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path;
}
