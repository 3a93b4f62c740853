import { randomBytes, createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { CertificateOrder, IssuedCertificate } from './certificate-issuer.js';

const DAY_MS = 86_400_000;
const CA_DAYS = 3_650;
/** Browsers refuse server certificates that live longer than 398 days. */
const CERTIFICATE_DAYS = 397;
const RENEW_BEFORE_MS = 30 * DAY_MS;
const CA_SUBJECT = '/DC=org/DC=grid/CN=Gridgate Development CA';

/** The users that the demo registry knows, and one it does not. */
export const DEMO_IDENTITIES = [
  'alice',
  'bob',
  'carol',
  'mona',
  'adam',
  'fred',
  'stranger',
] as const;

/** Paths of a PEM certificate and its key. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

/** What ensureDevelopmentPki has found or made. */
export interface DevelopmentPki {
  /** Path of the CA's certificate; `ca.key` beside it signs further ones. */
  ca: CertificateFiles;
  server: CertificateFiles;
  /** By name; subject `/DC=org/DC=grid/CN=<name>`. */
  identities: Record<string, CertificateFiles>;
  /** Names of what was issued now; empty when everything was there and good. */
  issued: string[];
}

/** Where and for whom. */
export interface DevelopmentPkiOptions {
  /** `$GRID_HOME/pki`; made when missing. */
  directory: string;
  /** External base URL; its host is added to the server certificate. */
  publicUrl: string;
  /** DEMO_IDENTITIES by default. */
  identities?: readonly string[];
  /** Milliseconds since 1970; the machine's clock by default. */
  now?: number;
}

/**
 * Makes sure that the development CA, the server certificate (localhost, 127.0.0.1, ::1 and the public host)
 * and the demo identities exist, fit together and stay valid for 30 days, and issues what does not. EC P-256,
 * keys with mode 0600. Each file appears whole or not at all and a pair is checked as a pair, so a crash at
 * any moment is repaired by the next call. Never for production.
 */
export async function ensureDevelopmentPki(
  options: DevelopmentPkiOptions,
): Promise<DevelopmentPki> {
  const { directory, identities = DEMO_IDENTITIES } = options;
  const now = options.now ?? Date.now();
  await mkdir(directory, { recursive: true });
  await removeDrafts(directory);
  const context = { directory, now, issued: [] as string[] };
  const ca = await ensure(context, 'ca', {
    order: { subject: CA_SUBJECT, purpose: 'ca', notAfter: new Date(now + CA_DAYS * DAY_MS) },
    isGood: (certificate) => certificate.ca,
  });
  const hosts = serverHosts(options.publicUrl);
  await ensure(context, 'server', {
    ca,
    order: { subject: '/DC=org/DC=grid/CN=localhost', purpose: 'server', subjectAltNames: hosts },
    isGood: (certificate) => hosts.every((host) => covers(certificate, host)),
  });
  for (const name of identities) {
    await ensure(context, name, {
      ca,
      order: { subject: `/DC=org/DC=grid/CN=${name}`, purpose: 'client' },
      isGood: () => true,
    });
  }
  return {
    ca: filesOf(directory, 'ca'),
    server: filesOf(directory, 'server'),
    identities: Object.fromEntries(identities.map((name) => [name, filesOf(directory, name)])),
    issued: context.issued,
  };
}

interface PkiContext {
  directory: string;
  now: number;
  issued: string[];
}

interface Wanted {
  ca?: IssuedCertificate;
  order: CertificateOrder;
  isGood: (certificate: X509Certificate) => boolean;
}

async function ensure(
  context: PkiContext,
  name: string,
  wanted: Wanted,
): Promise<IssuedCertificate> {
  const { directory, now } = context;
  const files = filesOf(directory, name);
  const found = await readPair(files);
  if (found !== undefined && isUsable(found, wanted, now)) return found;
  // Loaded only when something must be issued: the library takes 0.1 s that a normal start does not need.
  const { issueCertificate } = await import('./certificate-issuer.js');
  const made = await issueCertificate({
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + CERTIFICATE_DAYS * DAY_MS),
    ...wanted.order,
    ...(wanted.ca === undefined ? {} : { issuer: wanted.ca }),
  });
  await writeWhole(files.key, made.keyPem, 0o600);
  await writeWhole(files.certificate, made.certificatePem, 0o644);
  context.issued.push(name);
  return made;
}

function filesOf(directory: string, name: string): CertificateFiles {
  return { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
}

async function readPair(files: CertificateFiles): Promise<IssuedCertificate | undefined> {
  try {
    const [certificatePem, keyPem] = await Promise.all([
      readFile(files.certificate, 'utf8'),
      readFile(files.key, 'utf8'),
    ]);
    return { certificatePem, keyPem };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isUsable(pair: IssuedCertificate, wanted: Wanted, now: number): boolean {
  try {
    const certificate = new X509Certificate(pair.certificatePem);
    if (!certificate.checkPrivateKey(createPrivateKey(pair.keyPem))) return false;
    if (Date.parse(certificate.validFrom) > now) return false;
    if (Date.parse(certificate.validTo) < now + RENEW_BEFORE_MS) return false;
    const signer = new X509Certificate((wanted.ca ?? pair).certificatePem);
    return (
      certificate.checkIssued(signer) &&
      certificate.verify(signer.publicKey) &&
      wanted.isGood(certificate)
    );
  } catch {
    // cut off by a crash, or not a certificate at all
    return false;
  }
}

function serverHosts(publicUrl: string): string[] {
  const host = new URL(publicUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  return [...new Set(['localhost', '127.0.0.1', '::1', host])];
}

function covers(certificate: X509Certificate, host: string): boolean {
  const found = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return found !== undefined;
}

const DRAFT = '.draft-';

async function removeDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.includes(DRAFT)) await rm(join(directory, name), { force: true });
  }
}

async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const draft = `${path}${DRAFT}${randomBytes(6).toString('hex')}`;
  const handle = await open(draft, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
