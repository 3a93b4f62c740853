import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const HOUR_MS = 3_600_000;

/** A certificate for localhost with a P-256 key (the kind that the service's development CA makes), PEM. */
export async function selfSigned() {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: '01',
      name: 'CN=localhost',
      notBefore: new Date(Date.now() - HOUR_MS),
      notAfter: new Date(Date.now() + 24 * HOUR_MS),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new x509.SubjectAlternativeNameExtension([
          { type: 'dns', value: 'localhost' },
          { type: 'ip', value: '127.0.0.1' },
        ]),
      ],
    },
    webcrypto,
  );
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}
