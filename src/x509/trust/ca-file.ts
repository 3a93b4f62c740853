import { X509Certificate } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chainLink, type ChainLink } from '../certificate/chain-link.js';
import { decodeLong, pemTexts } from '../certificate/pem.js';
import { readRevocationList, type RevocationList } from './revocation-list.js';
import { POLICY_FILE, readPolicyFile, type PolicyFile } from '../signing-rights/policy-files.js';
import type { Slices } from '#src/kernel/index.js';

const CERTIFICATE_FILE = /\.(?:\d+|pem|crt|cer)$/i;
const REVOCATION_FILE = /\.(?:r\d+|crl)$/i;
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What one file of the trust store holds. */
export interface CaFile {
  /** Changes with the content: size, time and inode. */
  stamp: string;
  authorities: ChainLink[];
  revocationLists: RevocationList[];
  policy?: PolicyFile;
  /** What somebody should look at. */
  notes: string[];
}

/**
 * The files of a directory in the grid layout (`*.0`, `*.pem`, `*.crt`, `*.r0`, `*.crl`, `*.signing_policy`,
 * `*.namespaces`), or the bundle itself, with their stamps. Throws the error of the file system.
 */
export async function caFilesIn(path: string): Promise<Map<string, string>> {
  const info = await stat(path);
  const files = info.isDirectory() ? await filesOf(path) : [path];
  const stamps = new Map<string, string>();
  for (const file of files) {
    const stamp = await stampOf(file);
    if (stamp !== undefined) stamps.set(file, stamp);
  }
  return stamps;
}

async function filesOf(directory: string): Promise<string[]> {
  const kinds = [CERTIFICATE_FILE, REVOCATION_FILE, POLICY_FILE];
  const names = await readdir(directory);
  return names
    .filter((name) => kinds.some((kind) => kind.test(name)))
    .sort()
    .map((name) => join(directory, name));
}

/** A file that vanishes between readdir and stat (or a link to nowhere) is as if it were not there. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const info = await stat(path);
    return info.isFile() ? `${info.size} ${info.mtimeMs} ${info.ino}` : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Reads one file in slices. Certificates and lists in PEM or DER: a certificate that cannot be read is left out beside others;
 * throws when none can, and for a list that cannot. A policy always answers: one that cannot be read allows nothing.
 */
export async function readCaFile(path: string, stamp: string, slices: Slices): Promise<CaFile> {
  const file: CaFile = { stamp, authorities: [], revocationLists: [], notes: [] };
  if (POLICY_FILE.test(path)) return { ...file, ...(await policyOf(path)) };
  const bytes = await readFile(path);
  if (bytes.length > MAX_FILE_BYTES) throw new Error('the file is too large');
  const faults: Error[] = [];
  for await (const { label, read } of blocksOf(path, bytes, slices)) {
    // A list that cannot be read must not be missed: without it a revoked certificate would be good.
    if (label === 'X509 CRL')
      file.revocationLists.push(await readRevocationList(await read(), slices));
    else if (label.endsWith('CERTIFICATE')) {
      const der = await read().catch((error: unknown) => error as Error);
      const fault = der instanceof Error ? der : addAuthority(path, der, file);
      if (fault) faults.push(fault);
    }
    if (slices.isOver) await slices.rest();
  }
  const [first] = faults;
  if (first && file.authorities.length === 0) throw first;
  for (const { message } of faults) {
    file.notes.push(`${path} holds a certificate that cannot be read (${message}); it is left out`);
  }
  return file;
}

async function policyOf(path: string): Promise<Pick<CaFile, 'policy' | 'notes'>> {
  const policy = await readFile(path, 'utf8').then(
    (text) => readPolicyFile(path, text),
    (error: unknown) => readPolicyFile(path, undefined, (error as Error).message),
  );
  const fault = `${path} cannot be understood (${policy.fault}); its CA may sign nothing`;
  const leftOut = policy.leftOut.map(
    (one) => `${path}: ${one}; this permits nothing, the rest counts`,
  );
  return { policy, notes: policy.fault === undefined ? leftOut : [fault] };
}

/** Answers what is wrong with a certificate that cannot be read. */
function addAuthority(path: string, der: Buffer, into: CaFile): Error | undefined {
  let link;
  try {
    link = chainLink(der);
  } catch (error) {
    return error as Error;
  }
  const isOldRoot = link.fields.version < 3 && link.isSelfSigned;
  if (link.fields.isAuthority || isOldRoot) into.authorities.push(link);
  else into.notes.push(`${path} holds a certificate that is no CA's; it is left out`);
  return undefined;
}

async function* blocksOf(
  path: string,
  bytes: Buffer,
  slices: Slices,
): AsyncGenerator<{ label: string; read: () => Promise<Buffer> }> {
  if (bytes.length === 0) throw new Error('it is empty');
  const isText = bytes.includes('-----BEGIN ');
  // That has looked at all bytes.
  await slices.rest();
  if (!isText) {
    const label = REVOCATION_FILE.test(path) ? 'X509 CRL' : 'CERTIFICATE';
    yield { label, read: () => Promise.resolve(bytes) };
    return;
  }
  let isEmpty = true;
  for (const { label, base64 } of pemTexts(bytes)) {
    isEmpty = false;
    const read = async (): Promise<Buffer> => {
      const der = await decodeLong(base64, slices);
      // OpenSSL's own TRUSTED CERTIFICATE has more bytes behind the certificate.
      return label === 'TRUSTED CERTIFICATE' ? bareCertificate(der) : der;
    };
    yield { label, read };
  }
  if (isEmpty) throw new Error('it is cut off');
}

function bareCertificate(der: Buffer): Buffer {
  const base64 = der.toString('base64');
  return new X509Certificate(
    `-----BEGIN TRUSTED CERTIFICATE-----\n${base64}\n-----END TRUSTED CERTIFICATE-----\n`,
  ).raw;
}
