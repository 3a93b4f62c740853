import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** A certificate and its key, in PEM. */
export interface Identity {
  cert: string;
  key: string;
}

/** A certificate authority that lives as long as the test. */
export interface Authority extends Identity {
  issue(name: string, hosts?: readonly string[]): Promise<Identity>;
}

/** Makes an authority; certificates are valid for an hour. */
export async function makeAuthority(name: string): Promise<Authority> {
  const keys = await makeKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign),
    ],
  });
  const issue = async (subject: string, hosts: readonly string[] = []): Promise<Identity> => {
    const own = await makeKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      subject: `CN=${subject}`,
      issuer: root.subject,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: hosts.length > 0 ? [alternativeNames(hosts)] : [],
    });
    return { cert: `${certificate.toString('pem')}\n`, key: await pemKey(own.privateKey) };
  };
  return { cert: `${root.toString('pem')}\n`, key: await pemKey(keys.privateKey), issue };
}

function alternativeNames(hosts: readonly string[]): x509.SubjectAlternativeNameExtension {
  return new x509.SubjectAlternativeNameExtension(
    hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const),
  );
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + HOUR_MS) };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function pemKey(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', key)).toString('base64');
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/(.{64})/g, '$1\n')}\n-----END PRIVATE KEY-----\n`;
}
