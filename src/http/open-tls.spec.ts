import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { X509CertificateGenerator } from '@peculiar/x509';
import { takenGroups, takenSuites } from '../../test/support/handshakes.js';
import { encodePem } from '../x509/certificate/pem.js';
import { readConfig } from '#src/config/env.js';
import { openTls } from './open-tls.js';

const KEYS = {
  RSA: {
    ...{ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 },
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  ECDSA: { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' },
};

describe.each(['RSA', 'ECDSA'] as const)('a listener with a certificate of %s', (kind) => {
  let directory: string;
  let server: Server;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'open-tls-'));
    const algorithm = KEYS[kind];
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await X509CertificateGenerator.createSelfSigned({
      name: 'CN=localhost',
      keys: keys as never,
      signingAlgorithm: algorithm,
    });
    const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
    const [cert, key] = [join(directory, 'server.crt'), join(directory, 'server.key')];
    writeFileSync(cert, encodePem('CERTIFICATE', new Uint8Array(certificate.rawData)));
    writeFileSync(key, encodePem('PRIVATE KEY', new Uint8Array(pkcs8)));
    const { serverOptions } = await openTls(
      readConfig({ GRID_TLS_CERT: cert, GRID_TLS_KEY: key, GRID_DEVELOPMENT_CA: 'false' }),
      directory,
    );
    server = createServer(serverOptions!).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server?.close();
    rmSync(directory, { recursive: true });
  });

  const port = (): number => (server.address() as AddressInfo).port;

  it('takes of all suites of TLS 1.2 those that FAPI 2.0 §5.2.2 and RFC 9325 §4.2 name', async () => {
    expect(await takenSuites(port())).toEqual([
      `ECDHE-${kind}-AES128-GCM-SHA256`,
      `ECDHE-${kind}-AES256-GCM-SHA384`,
    ]);
  });

  it('takes keys of X25519, P-256 and P-384 only', async () => {
    expect(await takenGroups(port())).toEqual(['X25519', 'P-256', 'P-384']);
  });
});
