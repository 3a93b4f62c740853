import { execFile } from 'node:child_process';
import { sign, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { certificateSubject } from '../../src/x509/certificate/certificate-fields.js';
import { encodeElement, TAG } from '../../src/x509/certificate/der.js';
import { encodePem } from '../../src/x509/certificate/pem.js';
import {
  issueCertificate,
  type IssuedCertificate,
} from '../../src/x509/issuing/certificate-issuer.js';
import { atUsualPace } from '../support/pace.mjs';
import { support } from '../support/testbed.js';

const CAS = 100;
/** 1.4 million entries of 37 bytes: 50 MB of DER, 68 MB of PEM. */
const ENTRIES = 1_400_000;
const SERIAL_BYTES = 16;

/**
 * A process with nothing else in its memory, as the service has it: opens the directory, puts the list there in its other
 * form, and reads again. Writes the longest stretches of processor time (Linux) between two turns of the loop, milliseconds, and the
 * verdicts on the certificates.
 */
const PROGRAM = `
  import { X509Certificate } from 'node:crypto';
  import { readFileSync, renameSync } from 'node:fs';
  const [, root, directory, other, ...files] = process.argv;
  const { TrustedAuthorities } = await import(root + '/dist/src/x509/trust/trusted-authorities.js');
  const spent = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  async function longest(work) {
    let [isDone, most, before] = [false, 0, spent()];
    const ended = work().finally(() => (isDone = true));
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = spent();
      [most, before] = [Math.max(most, now - before), now];
    }
    await ended;
    return most;
  }
  let store;
  const verdicts = () => files.map((file) => {
    const verdict = store.verify([new X509Certificate(readFileSync(file)).raw]);
    return verdict.ok ? verdict.subject : verdict.reason;
  });
  const first = await longest(async () => {
    store = await TrustedAuthorities.open({ paths: [directory], pollSeconds: 600 });
  });
  const opened = { size: store.size, notes: store.notes, verdicts: verdicts() };
  renameSync(other, directory + '/large.crl');
  const second = await longest(() => store.refresh());
  const again = { size: store.size, notes: store.notes, verdicts: verdicts() };
  store.close();
  console.log(JSON.stringify({ stretches: [first, second], opened, again }));`;

let directory: string;
let outside: string;

beforeAll(() => {
  [directory, outside] = ['trust', 'outside'].map((name) =>
    mkdtempSync(join(tmpdir(), `grid-large-${name}-`)),
  ) as [string, string];
});

afterAll(() => {
  for (const path of [directory, outside]) rmSync(path, { recursive: true });
});

/** A list of consecutive serial numbers, written at once: one by one would take minutes. */
function largeList(issuer: IssuedCertificate): Buffer {
  const sequence = (...parts: Buffer[]): Buffer =>
    encodeElement(TAG.sequence, Buffer.concat(parts));
  const time = encodeElement(TAG.utcTime, Buffer.from('251101000000Z'));
  const next = encodeElement(TAG.utcTime, Buffer.from('491101000000Z'));
  const one = sequence(encodeElement(TAG.integer, Buffer.alloc(SERIAL_BYTES, 1)), time);
  const entries = Buffer.alloc(ENTRIES * one.length);
  for (let index = 0; index < ENTRIES; index++) {
    const at = index * one.length;
    one.copy(entries, at);
    entries.writeUInt32BE(index, at + 4 + SERIAL_BYTES - 4);
  }
  const algorithm = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
  const subject = certificateSubject(new X509Certificate(issuer.certificatePem).raw);
  const version = encodeElement(TAG.integer, Buffer.from([1]));
  const tbs = sequence(version, algorithm, subject, time, next, sequence(entries));
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', tbs, issuer.keyPem)]);
  return sequence(tbs, algorithm, encodeElement(TAG.bitString, signature));
}

function serialOf(index: number): string {
  return `${'01'.repeat(SERIAL_BYTES - 4)}${index.toString(16).padStart(8, '0')}`;
}

describe('a directory of 100 CAs and a list of 50 MB', () => {
  it('is read, and read again, without stopping the thread for 100 ms', async () => {
    let ca: IssuedCertificate | undefined;
    for (let index = 0; index < CAS; index++) {
      ca = await issueCertificate({ subject: `/DC=org/DC=grid/CN=CA ${index}`, purpose: 'ca' });
      writeFileSync(join(directory, `ca-${index}.pem`), ca.certificatePem);
      const policy = `TO Issuer SELF PERMIT Subject "/DC=org/DC=grid/CN=.*"\n`;
      writeFileSync(join(directory, `ca-${index}.namespaces`), policy);
    }
    const issuer = ca as IssuedCertificate;
    const list = largeList(issuer);
    writeFileSync(join(directory, 'large.crl'), list);
    const other = join(outside, 'pem.crl');
    writeFileSync(other, encodePem('X509 CRL', list));
    const files = [0, ENTRIES - 1, ENTRIES].map((index) => join(outside, `alice-${index}.pem`));
    for (const [place, index] of [0, ENTRIES - 1, ENTRIES].entries()) {
      const order = { subject: '/DC=org/DC=grid/CN=alice', purpose: 'client' as const, issuer };
      const { certificatePem } = await issueCertificate({
        ...order,
        serialNumber: serialOf(index),
      });
      writeFileSync(files[place] ?? '', certificatePem);
    }
    const words = ['--input-type=module', '--eval', PROGRAM];
    const operands = [support().root, directory, other, ...files];
    const { stdout } = await promisify(execFile)(process.execPath, [...words, ...operands]);
    const { stretches, ...seen } = JSON.parse(stdout) as { stretches: number[] };
    const verdicts = ['revoked', 'revoked', '/DC=org/DC=grid/CN=alice'];
    // A list of another form is a change: everything about it is done again, then from PEM.
    const store = { size: CAS, notes: [], verdicts };
    expect(seen).toEqual({ opened: store, again: store });
    expect(atUsualPace(Math.max(...stretches))).toBeLessThan(100);
  }, 120_000);
});
