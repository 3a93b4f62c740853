import { webcrypto } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

/** A certificate and its key, as PEM text and as files. */
export interface IssuedPair {
  cert: string;
  key: string;
  certPath: string;
  keyPath: string;
}

/** A CA of a test, with the certificates it made, in a folder of its own. */
export interface TestPki {
  directory: string;
  ca: IssuedPair;
  server: IssuedPair;
  /** A client certificate `CN=<name>` of the CA. */
  client(name: string): Promise<IssuedPair>;
  /** A certificate that only its key vouches for. */
  selfSigned(name: string): Promise<IssuedPair>;
  /** Removes the folder. */
  remove(): Promise<void>;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 86_400_000;

function pem(label: string, bytes: ArrayBuffer): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Makes a CA and a server certificate for localhost and 127.0.0.1. */
export async function createTestPki(): Promise<TestPki> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  const directory = await mkdtemp(join(tmpdir(), 'gridgate-pki-'));
  const keysOf = (): Promise<webcrypto.CryptoKeyPair> =>
    webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const validity = { notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + DAY) };
  const store = async (
    name: string,
    certificate: x509.X509Certificate,
    keys: webcrypto.CryptoKeyPair,
  ): Promise<IssuedPair> => {
    const cert = certificate.toString('pem');
    const key = pem('PRIVATE KEY', await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
    const certPath = join(directory, `${name}.crt`);
    const keyPath = join(directory, `${name}.key`);
    await writeFile(certPath, cert);
    await writeFile(keyPath, key, { mode: 0o600 });
    return { cert, key, certPath, keyPath };
  };
  const caKeys = await keysOf();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: 'CN=Test CA',
    keys: caKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
    ],
  });
  let serial = 1;
  const issue = async (name: string, extensions: x509.Extension[]): Promise<IssuedPair> => {
    const keys = await keysOf();
    serial += 1;
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity,
      serialNumber: serial.toString(16).padStart(2, '0'),
      subject: `CN=${name}`,
      issuer: authority.subject,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions,
    });
    return store(name, certificate, keys);
  };
  return {
    directory,
    ca: await store('ca', authority, caKeys),
    server: await issue('localhost', [
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ]),
    client: (name) => issue(name, []),
    selfSigned: async (name) => {
      const keys = await keysOf();
      const certificate = await x509.X509CertificateGenerator.createSelfSigned({
        ...validity,
        name: `CN=${name}`,
        keys,
        signingAlgorithm: ALGORITHM,
      });
      return store(name, certificate, keys);
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
