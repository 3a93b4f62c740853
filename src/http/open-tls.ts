import { constants } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import {
  ensureDevelopmentPki,
  TrustedAuthorities,
  type DevelopmentPki,
  type TrustLog,
} from '#src/x509/index.js';
import type { Config } from '#src/config/index.js';

/** What the listener needs, and who is trusted to issue client certificates. */
export interface OpenedTls {
  /** Undefined for a plain HTTP listener behind a load balancer. */
  serverOptions: ServerOptions | undefined;
  authorities: TrustedAuthorities;
  close(): Promise<void>;
}

/**
 * Opens TLS as the configuration says: the given files, or the development CA with its demo identities. Client
 * certificates are requested, not demanded, and verified by TrustedAuthorities: a handshake never fails for one.
 * Throws with a message that names the variable.
 */
export async function openTls(
  config: Config,
  pkiDirectory: string,
  log?: TrustLog,
): Promise<OpenedTls> {
  const development = config.useDevelopmentCa
    ? await ensureDevelopmentPki({ directory: pkiDirectory, publicUrl: config.publicUrl })
    : undefined;
  const source = config.trustedCa ?? development?.ca.certificate;
  const authorities = await TrustedAuthorities.open({
    paths: source === undefined ? [] : [source],
    pollSeconds: config.trustedCaRefresh,
    allowProxies: config.allowProxyCertificates,
    ...(log === undefined ? {} : { log }),
  });
  const close = (): Promise<void> => {
    authorities.close();
    return Promise.resolve();
  };
  const serverOptions =
    config.tlsMode === 'on' ? await listenerOptions(config, development) : undefined;
  return { serverOptions, authorities, close };
}

async function listenerOptions(
  config: Config,
  development: DevelopmentPki | undefined,
): Promise<ServerOptions> {
  const certificate = config.tlsCertificate ?? development?.server.certificate;
  const key = config.tlsKey ?? development?.server.key;
  const authority = development?.ca.certificate;
  if (certificate === undefined || key === undefined) {
    throw new Error('GRID_TLS_CERT and GRID_TLS_KEY are not set and there is no development CA');
  }
  const own = await readPem('GRID_TLS_CERT', certificate);
  // Who knows the fingerprint of a development CA only has to see it.
  const ca = config.tlsCertificate === undefined && authority ? await readPem('', authority) : '';
  return {
    cert: `${own}${ca}`,
    key: await readPem('GRID_TLS_KEY', key),
    minVersion: 'TLSv1.2',
    ciphers: knownCiphers(config.tlsCiphers),
    // A hello with a key of a finite field costs the main thread up to sixty times as much as one of a curve.
    ecdhCurve: 'X25519:P-256:P-384',
    honorCipherOrder: true,
    requestCert: true,
    rejectUnauthorized: false,
    // A resumed session has lost the client's chain but for the leaf (measured, TLS 1.2 and 1.3).
    secureOptions: constants.SSL_OP_NO_TICKET,
  };
}

/** Suites that OpenSSL does not know are a fault of the start, not of the first handshake. */
function knownCiphers(ciphers: string): string {
  try {
    createSecureContext({ ciphers });
    return ciphers;
  } catch (cause) {
    throw new Error(`GRID_TLS_CIPHERS=${ciphers} names no cipher suites of OpenSSL`, { cause });
  }
}

async function readPem(variable: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unreadable';
    throw new Error(`${variable}=${path} cannot be read (${reason})`, { cause });
  }
}
