/** Processor time of the service's main thread for handshakes that cost more than they should, beside a plain one. */
import { readFileSync } from 'node:fs';
import { costlyClients } from './frame/costly-clients.mjs';
import {
  handshake,
  inRecords,
  recordHello,
  renegotiate,
  sendBytes,
  withEarlyData,
  withNames,
  withPadding,
} from './frame/hellos.mjs';

const MS_PER_TICK = 10; // USER_HZ of every Linux that runs Node

/** Milliseconds of processor time that the main thread of a process has used (Linux). */
function mainThreadTime(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

const PLAIN = { minVersion: 'TLSv1.3', ecdhCurve: 'X25519' };
const TLS12 = { maxVersion: 'TLSv1.2' };

/** What each client does: (port, what is prepared) => promise. */
const KINDS = {
  'hello-alone': {
    title: 'a recorded hello, and away after the answer',
    client: (port, { hello }) => sendBytes(port, inRecords(hello.subarray(5))),
  },
  'p-384': {
    title: 'TLS 1.3 with a key of P-384',
    client: (port) => handshake(port, { ...PLAIN, ecdhCurve: 'P-384' }),
  },
  'second-hello': {
    title: 'TLS 1.3 with a key of P-521 first, so that the hello is asked for again',
    client: (port) => handshake(port, { ...PLAIN, ecdhCurve: 'P-521:P-384' }),
  },
  'tls-1.2': { title: 'TLS 1.2', client: (port) => handshake(port, TLS12) },
  renegotiation: {
    title: 'TLS 1.2, and another handshake in the same connection',
    client: (port) => handshake(port, { ...TLS12, after: renegotiate }),
  },
  'certificate-rsa-8192': {
    title: 'a client certificate with an RSA key of 8,192 bits',
    client: (port, { clients }) => handshake(port, { ...PLAIN, ...clients.largeKey }),
  },
  'certificate-exponent': {
    title: 'a client certificate with an RSA exponent as long as its modulus (3,072 bits)',
    client: (port, { clients }) => handshake(port, { ...PLAIN, ...clients.largeExponent }),
  },
  'certificate-chain': {
    title: 'a chain of 90 client certificates',
    client: (port, { clients }) => handshake(port, { ...PLAIN, ...clients.chain }),
  },
  'many-names': {
    title: 'a hello with 3,000 names of the server',
    client: (port, { hello }) => sendBytes(port, inRecords(withNames(hello, 3_000))),
  },
  'long-hello': {
    title: 'a hello of 60 kB',
    client: (port, { hello }) => sendBytes(port, inRecords(withPadding(hello, 60_000))),
  },
  'slow-hello': {
    title: 'a hello that comes byte by byte',
    client: (port, { hello }) => sendBytes(port, inRecords(hello.subarray(5)), 1),
  },
  'early-data': {
    title: 'a hello with early data, which is skipped',
    client: (port, { hello }) => sendBytes(port, withEarlyData(hello)),
  },
};

export const figures = Object.entries(KINDS).map(([name, { title, client }]) => ({
  name: `handshakes.${name}`,
  title: `processor time of the main thread: ${title}`,
  unit: 'ms',
  better: 'lower',
  floor: 'TLS 1.3 with X25519',
  async prepare(bench) {
    const server = await bench.server();
    const port = Number(new URL(server.url).port);
    const prepared = { hello: await recordHello(), clients: await costlyClients() };
    const measure = (one) => async (seconds) => {
      const before = mainThreadTime(server.pid);
      const end = performance.now() + seconds * 1_000;
      let count = 0;
      for (; performance.now() < end; count += 1) await one(port, prepared);
      return { value: (mainThreadTime(server.pid) - before) / count, note: `${count} in a round` };
    };
    return { figure: measure(client), floor: measure((to) => handshake(to, PLAIN)) };
  },
}));
