import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SSLError } from '../message/errors.js';
import type { ClientCert, Verify } from '../message/types.js';

/** What a TLS connection is made with. */
export interface TlsSettings {
  ca?: string[];
  cert?: string;
  key?: string;
  rejectUnauthorized?: boolean;
}

const CERTIFICATE_FILE = /\.(?:pem|crt|cer|\d+)$/;

/**
 * A key that changes when the files behind the settings change: certificates of grid users are renewed while a
 * session lives; a change counts within a second. Throws SSLError when a file is missing.
 */
export function tlsKey(verify: Verify, cert: ClientCert | null): string {
  const parts = [typeof verify === 'string' ? stamped(verify, 'CA bundle') : String(verify)];
  for (const path of certPaths(cert)) parts.push(stamped(path, 'client certificate'));
  return parts.join('|');
}

/** Reads CA bundle, certificate and key. A bundle replaces the built-in authorities. Throws SSLError. */
export function tlsSettings(verify: Verify, cert: ClientCert | null): TlsSettings {
  const settings: TlsSettings = {};
  if (verify === false) settings.rejectUnauthorized = false;
  if (typeof verify === 'string') settings.ca = readAuthorities(verify);
  const [certPath, keyPath = certPath] = certPaths(cert);
  if (certPath !== undefined && keyPath !== undefined) {
    settings.cert = readFile(certPath, 'client certificate');
    settings.key = readFile(keyPath, 'client key');
  }
  return settings;
}

function certPaths(cert: ClientCert | null): readonly string[] {
  if (cert === null) return [];
  return typeof cert === 'string' ? [cert] : cert;
}

/** The PEM texts of a CA file, or of all CA files of a directory. Throws SSLError. */
export function readAuthorities(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return [readFile(path, 'CA bundle')];
  const files = readdirSync(path).filter((name) => CERTIFICATE_FILE.test(name));
  const authorities = files
    .map((name) => readFile(join(path, name), 'CA file'))
    .filter((text) => text.includes('BEGIN CERTIFICATE'));
  // Node would take an empty list for "no list" and fall back to its own authorities.
  if (authorities.length === 0) throw new SSLError('the CA directory holds no certificate');
  return authorities;
}

/** How long the look at a file counts; looking at every request was 12 % of its time (measured). */
const LOOK_MS = 1_000;
const MOST_LOOKS = 1_000;
const looks = new Map<string, { stamp: string; until: number }>();

function stamped(path: string, what: string): string {
  const now = performance.now();
  const look = looks.get(path);
  if (look !== undefined && now < look.until) return look.stamp;
  const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (modified === undefined) throw new SSLError(`the ${what} cannot be found: ${path}`);
  const stamp = `${path}@${modified}`;
  if (looks.size >= MOST_LOOKS) looks.clear();
  looks.set(path, { stamp, until: now + LOOK_MS });
  return stamp;
}

function readFile(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SSLError(`the ${what} cannot be read: ${path}`, { cause: error });
  }
}
