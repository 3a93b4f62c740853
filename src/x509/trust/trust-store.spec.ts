import { sign, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atUsualPace } from '../../../test/support/pace.mjs';
import { certificateSubject } from '../certificate/certificate-fields.js';
import { issueCertificate, type IssuedCertificate } from '../issuing/certificate-issuer.js';
import { encodeElement, TAG } from '../certificate/der.js';
import { encodePem } from '../certificate/pem.js';
import { TrustedAuthorities } from './trusted-authorities.js';

const CAS = 100;
/** 1.4 million entries of 37 bytes: 50 MB of DER, 68 MB of PEM. */
const ENTRIES = 1_400_000;
const SERIAL_BYTES = 16;

let directory: string;
let authorities: TrustedAuthorities | undefined;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'gridgate-large-trust-'));
});

afterAll(() => {
  authorities?.close();
  rmSync(directory, { recursive: true });
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

/** Milliseconds of processor time that this thread has had (Linux): a busy machine does not count. */
function threadTime(): number {
  const [nanoseconds = '0'] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** The longest stretch of processor time between two turns of the loop while the work is done. */
async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let isDone = false;
  let longest = 0;
  const ended = work().finally(() => (isDone = true));
  let before = threadTime();
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = threadTime();
    longest = Math.max(longest, now - before);
    before = now;
  }
  await ended;
  return longest;
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
    const first = await longestStretch(async () => {
      authorities = await TrustedAuthorities.open({ paths: [directory], pollSeconds: 600 });
    });
    const store = authorities as TrustedAuthorities;
    expect([store.size, store.notes]).toEqual([CAS, []]);
    const verdictOf = async (serialNumber: string): Promise<string> => {
      const order = { subject: '/DC=org/DC=grid/CN=alice', purpose: 'client' as const, issuer };
      const one = await issueCertificate({ ...order, serialNumber });
      const verdict = store.verify([new X509Certificate(one.certificatePem).raw]);
      return verdict.ok ? verdict.subject : verdict.reason;
    };
    expect(await verdictOf(serialOf(0))).toBe('revoked');
    expect(await verdictOf(serialOf(ENTRIES - 1))).toBe('revoked');
    expect(await verdictOf(serialOf(ENTRIES))).toBe('/DC=org/DC=grid/CN=alice');
    // A list of another form is a change: everything about it is done again, now from PEM.
    writeFileSync(join(directory, 'large.crl'), encodePem('X509 CRL', list));
    const second = await longestStretch(() => store.refresh());
    expect(store.notes).toEqual([]);
    expect(await verdictOf(serialOf(ENTRIES - 1))).toBe('revoked');
    expect(atUsualPace(Math.max(first, second))).toBeLessThan(100);
  }, 120_000);
});
