import { X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chainLink, nameKey, type ChainLink } from './chain-link.js';
import { decodeName, formatDn } from './distinguished-name.js';
import { decodePem } from './pem.js';
import { readRevocationList, type RevocationList } from './revocation-list.js';

const CERTIFICATE_FILE = /\.(?:\d+|pem|crt|cer)$/i;
const REVOCATION_FILE = /\.(?:r\d+|crl)$/i;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A directory or bundle of trusted CAs cannot be read. */
export class TrustStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TrustStoreError';
  }
}

interface LoadedFile {
  stamp: string;
  authorities: ChainLink[];
  revocationLists: RevocationList[];
}

/**
 * Trusted CAs and their revocation lists, read from directories in the grid layout (`*.0`, `*.pem`, `*.crt`
 * and `*.r0`, `*.crl`, PEM or DER) and from bundle files. A file is read again only when its size, time or
 * inode changes; a changed file that cannot be read keeps its last good content.
 */
export class TrustStore {
  /** Grows with every change of content. */
  generation = 0;
  #files = new Map<string, LoadedFile>();
  #authorities = new Map<string, ChainLink[]>();
  #lists = new Map<string, RevocationList[]>();
  /** Which lists are signed by which certificate: a signature check that need not be repeated. */
  #newest = new Map<string, RevocationList | undefined>();

  constructor(
    private readonly paths: readonly string[],
    private readonly log: (line: string) => void,
  ) {}

  /** Number of trusted CAs. */
  get size(): number {
    return [...this.#authorities.values()].reduce((sum, list) => sum + list.length, 0);
  }

  /** Looks for changes and reads them; true when something has changed. Throws TrustStoreError. */
  async refresh(): Promise<boolean> {
    const stamps = await this.#stamps();
    const isSame =
      stamps.size === this.#files.size &&
      [...stamps].every(([path, stamp]) => this.#files.get(path)?.stamp === stamp);
    if (isSame && this.generation > 0) return false;
    const next = new Map<string, LoadedFile>();
    for (const [path, stamp] of stamps) {
      const before = this.#files.get(path);
      next.set(path, before?.stamp === stamp ? before : await this.#load(path, stamp, before));
    }
    this.#files = next;
    this.#index();
    return true;
  }

  /** Trusted CAs whose subject is that name. */
  authorities(key: string): readonly ChainLink[] {
    return this.#authorities.get(key) ?? [];
  }

  isTrusted(link: ChainLink): boolean {
    return this.authorities(link.subjectKey).some((one) => one.fingerprint === link.fingerprint);
  }

  /** The newest revocation list that this CA has signed. */
  revocationList(issuer: ChainLink): RevocationList | undefined {
    if (this.#newest.has(issuer.fingerprint)) return this.#newest.get(issuer.fingerprint);
    const signed = (this.#lists.get(issuer.subjectKey) ?? [])
      .filter((list) => list.isSignedBy(issuer.publicKey))
      .sort((a, b) => b.thisUpdate - a.thisUpdate);
    // Presented intermediates come here too: a stranger must not fill the memory.
    if (this.#newest.size < 10_000) this.#newest.set(issuer.fingerprint, signed[0]);
    return signed[0];
  }

  async #stamps(): Promise<Map<string, string>> {
    const stamps = new Map<string, string>();
    for (const path of this.paths) {
      try {
        const info = await stat(path);
        const files = info.isDirectory() ? await filesIn(path) : [path];
        for (const file of files) {
          const { size, mtimeMs, ino, isFile } = await stampOf(file);
          if (isFile) stamps.set(file, `${size} ${mtimeMs} ${ino}`);
        }
      } catch (error) {
        throw new TrustStoreError(
          `the trusted CAs in ${path} cannot be read: ${(error as Error).message}`,
          { cause: error },
        );
      }
    }
    return stamps;
  }

  async #load(path: string, stamp: string, before: LoadedFile | undefined): Promise<LoadedFile> {
    const loaded: LoadedFile = { stamp, authorities: [], revocationLists: [] };
    try {
      const bytes = await readFile(path);
      if (bytes.length > MAX_FILE_BYTES) throw new Error('the file is too large');
      for (const { label, der } of blocksOf(path, bytes)) {
        if (label === 'X509 CRL') loaded.revocationLists.push(readRevocationList(der));
        else if (label.endsWith('CERTIFICATE')) this.#addAuthority(path, der, loaded);
      }
      return loaded;
    } catch (error) {
      const kept = before === undefined ? 'it is left out' : 'its last content stays';
      this.log(`trusted CAs: ${path} cannot be read (${(error as Error).message}); ${kept}`);
      return before === undefined ? loaded : { ...before, stamp };
    }
  }

  #addAuthority(path: string, der: Buffer, into: LoadedFile): void {
    const link = chainLink(der);
    const isOldRoot = link.fields.version < 3 && link.isSelfSigned;
    if (link.fields.isAuthority || isOldRoot) into.authorities.push(link);
    else this.log(`trusted CAs: ${path} holds a certificate that is no CA's; it is left out`);
  }

  #index(): void {
    this.generation++;
    this.#newest = new Map();
    const links = new Map<string, ChainLink>();
    const lists = new Map<string, RevocationList>();
    for (const file of this.#files.values()) {
      // The grid layout has each CA twice: hash.0 is a link to its .pem.
      for (const link of file.authorities) links.set(link.fingerprint, link);
      for (const list of file.revocationLists) lists.set(list.fingerprint, list);
    }
    this.#authorities = groupBy([...links.values()], (link) => link.subjectKey);
    this.#lists = groupBy([...lists.values()], (list) =>
      nameKey(formatDn(decodeName(list.issuer))),
    );
    for (const key of this.#lists.keys()) {
      const signers = this.authorities(key);
      const isOrphan = signers.length > 0 && !signers.some((ca) => this.revocationList(ca));
      if (isOrphan) this.log(`trusted CAs: the revocation list of ${key} is not signed by it`);
    }
  }
}

function groupBy<T>(values: T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

async function filesIn(directory: string): Promise<string[]> {
  const names = await readdir(directory);
  return names
    .filter((name) => CERTIFICATE_FILE.test(name) || REVOCATION_FILE.test(name))
    .sort()
    .map((name) => join(directory, name));
}

/** A file that vanishes between readdir and stat (or a link to nowhere) is as if it were not there. */
async function stampOf(
  path: string,
): Promise<{ size: number; mtimeMs: number; ino: number; isFile: boolean }> {
  try {
    const info = await stat(path);
    return { size: info.size, mtimeMs: info.mtimeMs, ino: info.ino, isFile: info.isFile() };
  } catch {
    return { size: 0, mtimeMs: 0, ino: 0, isFile: false };
  }
}

function blocksOf(path: string, bytes: Buffer): { label: string; der: Buffer }[] {
  const text = bytes.toString('latin1');
  if (text.includes('-----BEGIN ')) {
    const blocks = decodePem(text);
    if (blocks.length === 0) throw new Error('it is cut off');
    return blocks.map(({ label, der }) => ({
      label,
      // OpenSSL's own TRUSTED CERTIFICATE has more bytes behind the certificate.
      der: label === 'TRUSTED CERTIFICATE' ? new X509Certificate(encodeTrusted(der)).raw : der,
    }));
  }
  if (bytes.length === 0) throw new Error('it is empty');
  return [{ label: REVOCATION_FILE.test(path) ? 'X509 CRL' : 'CERTIFICATE', der: bytes }];
}

function encodeTrusted(der: Buffer): string {
  return `-----BEGIN TRUSTED CERTIFICATE-----\n${der.toString('base64')}\n-----END TRUSTED CERTIFICATE-----\n`;
}
