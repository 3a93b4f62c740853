import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const FIRST = 10_000;
const COUNT = 22_000;
const RANGE = '/proc/sys/net/ipv4/ip_local_port_range';

/**
 * Free loopback ports, all different. They lie outside of what the kernel gives to connections and to listeners without a port:
 * such a one, of any other test, would take the port before the server that it is meant for listens.
 */
export async function freePorts(count) {
  const ports = new Set();
  while (ports.size < count) {
    const port = candidate();
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** One of them. */
export async function freePort() {
  const [port] = await freePorts(1);
  return port;
}

function candidate() {
  const [low, high] = givenByTheKernel();
  const first = low >= FIRST + COUNT ? FIRST : high + 1;
  const count = low >= FIRST + COUNT ? COUNT : 65_535 - high;
  if (count < 100) throw new Error(`no port is left beside ${RANGE}: ${low} to ${high}`);
  return first + Math.floor(Math.random() * count);
}

function givenByTheKernel() {
  try {
    return readFileSync(RANGE, 'utf8').trim().split(/\s+/).map(Number);
  } catch {
    return [49_152, 65_535]; // not Linux: what IANA sets aside for it
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
