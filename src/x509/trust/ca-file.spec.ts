import { sign, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Slices } from '#src/kernel/index.js';
import { certificateSubject } from '../certificate/certificate-fields.js';
import { chainLink } from '../certificate/chain-link.js';
import { encodeElement, TAG } from '../certificate/der.js';
import { encodePem } from '../certificate/pem.js';
import { issueCertificate, type IssuedCertificate } from '../issuing/certificate-issuer.js';
import { readCaFile, type CaFile } from './ca-file.js';

/** 37 bytes each in DER. */
const ENTRIES = 10_000;
const MOST_ENTRIES = 256;
const MOST_BYTES = 2 ** 20;
const SERIAL_BYTES = 16;

/** Counts how often the work could have stopped. */
class CountedSlices extends Slices {
  asked = 0;

  override get isOver(): boolean {
    this.asked += 1;
    return false;
  }
}

let directory: string;
let ca: IssuedCertificate;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'grid-ca-file-'));
  ca = await issueCertificate({ subject: '/DC=org/DC=grid/CN=CA', purpose: 'ca' });
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A list of consecutive serial numbers, written at once: one by one would take minutes. */
function listOf(count: number): Buffer {
  const sequence = (...parts: Buffer[]): Buffer =>
    encodeElement(TAG.sequence, Buffer.concat(parts));
  const time = encodeElement(TAG.utcTime, Buffer.from('251101000000Z'));
  const next = encodeElement(TAG.utcTime, Buffer.from('491101000000Z'));
  const one = sequence(encodeElement(TAG.integer, Buffer.alloc(SERIAL_BYTES, 1)), time);
  const entries = Buffer.alloc(count * one.length);
  for (let index = 0; index < count; index++) {
    const at = index * one.length;
    one.copy(entries, at);
    entries.writeUInt32BE(index, at + 4 + SERIAL_BYTES - 4);
  }
  const algorithm = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
  const subject = certificateSubject(new X509Certificate(ca.certificatePem).raw);
  const version = encodeElement(TAG.integer, Buffer.from([1]));
  const tbs = sequence(version, algorithm, subject, time, next, sequence(entries));
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', tbs, ca.keyPem)]);
  return sequence(tbs, algorithm, encodeElement(TAG.bitString, signature));
}

async function read(name: string, content: Buffer | string): Promise<CaFile & { asked: number }> {
  const path = join(directory, name);
  writeFileSync(path, content);
  const slices = new CountedSlices();
  return { ...(await readCaFile(path, 'stamp', slices)), asked: slices.asked };
}

describe('a large revocation list', () => {
  it.each([1, 4])(
    'of %i times 10,000 entries is read in small steps, DER and PEM',
    async (times) => {
      const list = listOf(times * ENTRIES);
      const der = await read('list.crl', list);
      const least = (times * ENTRIES) / MOST_ENTRIES + list.length / MOST_BYTES;
      expect(der.asked).toBeGreaterThanOrEqual(Math.floor(least));
      const pem = await read('list.pem', encodePem('X509 CRL', list));
      expect(pem.asked - der.asked).toBeGreaterThanOrEqual(Math.floor(list.length / MOST_BYTES));
      for (const { revocationLists } of [der, pem]) {
        const [revoked] = revocationLists.map((one) => one.revoked);
        const serial = (index: number): string =>
          `${'01'.repeat(SERIAL_BYTES - 4)}${index.toString(16).padStart(8, '0')}`;
        const known = [0, times * ENTRIES - 1, times * ENTRIES].map((n) => revoked?.has(serial(n)));
        expect(known).toEqual([true, true, false]);
      }
    },
  );

  it('has its signature checked in small steps', async () => {
    const list = listOf(4 * ENTRIES);
    const { revocationLists } = await read('list.crl', list);
    const issuer = chainLink(Buffer.from(new X509Certificate(ca.certificatePem).raw));
    const slices = new CountedSlices();
    await revocationLists[0]?.check(issuer, slices);
    expect(slices.asked).toBeGreaterThanOrEqual(Math.floor(list.length / MOST_BYTES));
    expect(revocationLists[0]?.isSignedBy(issuer)).toBe(true);
  });
});

describe('a bundle of CAs', () => {
  const broken = (text: string): string =>
    `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;

  it.each([
    ['cut DER', broken('MIIB')],
    ['no base64', broken('!!!!')],
    ['another thing in DER', broken('MAMCAQE=')],
    ['nothing', broken('')],
    ['a certificate of trust that is broken', broken('MIIB').replaceAll('CERT', 'TRUSTED CERT')],
  ])('keeps its good ones beside %s', async (_what, odd) => {
    for (const text of [odd + ca.certificatePem, ca.certificatePem + odd]) {
      const { authorities, notes } = await read('bundle.pem', text);
      expect(authorities.map(({ fields }) => fields.isAuthority)).toEqual([true]);
      expect(notes).toEqual([
        expect.stringMatching(
          /^\/.*\/bundle\.pem holds a certificate that cannot be read \(.+\); it is left out$/,
        ),
      ]);
    }
    await expect(read('odd.pem', odd)).rejects.toThrow();
  });

  it('is not taken without a revocation list of it that is broken', async () => {
    const list = broken('MIIB').replaceAll('CERTIFICATE', 'X509 CRL');
    await expect(read('bundle.pem', ca.certificatePem + list)).rejects.toThrow();
  });
});
