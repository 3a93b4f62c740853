import { once } from 'node:events';
import { connect, getCiphers, type ConnectionOptions } from 'node:tls';

const CURVES = ['X25519', 'P-256', 'P-384', 'P-521', 'X448'];
const FINITE_FIELDS = ['ffdhe2048', 'ffdhe3072', 'ffdhe4096', 'ffdhe6144', 'ffdhe8192'];

/** Of all suites of TLS 1.2 that OpenSSL has, those that a listener on loopback takes from clients that offer nothing else. */
export function takenSuites(port: number): Promise<string[]> {
  const suites = getCiphers().filter((name) => !name.startsWith('tls_'));
  return taken(suites.map((name) => name.toUpperCase()).sort(), (name) => ({
    port,
    maxVersion: 'TLSv1.2',
    ciphers: `${name}:@SECLEVEL=0`,
  }));
}

/** Of curves and finite fields for the keys of TLS 1.3, those that it takes from clients that offer nothing else. */
export function takenGroups(port: number): Promise<string[]> {
  return taken([...CURVES, ...FINITE_FIELDS], (ecdhCurve) => ({
    ...{ port, minVersion: 'TLSv1.3', ecdhCurve },
  }));
}

async function taken(
  names: readonly string[],
  optionsOf: (name: string) => ConnectionOptions,
): Promise<string[]> {
  const found = names.map(async (name) => ((await isTaken(optionsOf(name))) ? [name] : []));
  return (await Promise.all(found)).flat();
}

/** Whether the handshake comes to its end. */
async function isTaken(options: ConnectionOptions): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', rejectUnauthorized: false, ...options });
  try {
    await once(socket, 'secureConnect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
