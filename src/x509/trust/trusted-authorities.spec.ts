import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  issueProxyCertificate,
  issueRevocationList,
  type ProxyOrder,
} from '../../../test/support/certificates.js';
import {
  issueCertificate,
  type CertificateOrder,
  type IssuedCertificate,
} from '../issuing/certificate-issuer.js';
import type { CertificateVerdict } from './certificate-verdict.js';
import { TrustedAuthorities, type TrustedAuthoritiesOptions } from './trusted-authorities.js';

const DAY = 86_400_000;
const ALICE = '/DC=org/DC=grid/CN=alice';

let directory: string;
let ca: IssuedCertificate;
const opened: TrustedAuthorities[] = [];

beforeAll(async () => {
  ca = await issueCertificate({ subject: '/DC=org/DC=grid/CN=Test CA', purpose: 'ca' });
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gridgate-trust-'));
  put('ca.pem', ca.certificatePem);
});

afterEach(() => {
  for (const authorities of opened.splice(0)) authorities.close();
  rmSync(directory, { recursive: true });
});

function put(name: string, text: string): void {
  writeFileSync(join(directory, name), text);
}

async function open(options: Partial<TrustedAuthoritiesOptions> = {}): Promise<TrustedAuthorities> {
  const authorities = await TrustedAuthorities.open({ paths: [directory], ...options });
  opened.push(authorities);
  return authorities;
}

function der(...issued: IssuedCertificate[]): Buffer[] {
  return issued.map(({ certificatePem }) => new X509Certificate(certificatePem).raw);
}

let usual: Promise<IssuedCertificate> | undefined;

/** Without an order always the same. */
function client(order?: Partial<CertificateOrder>): Promise<IssuedCertificate> {
  const plain = { subject: ALICE, purpose: 'client' as const, issuer: ca };
  return order ? issueCertificate({ ...plain, ...order }) : (usual ??= issueCertificate(plain));
}

function outcome(verdict: CertificateVerdict): string {
  return verdict.ok ? verdict.subject : verdict.reason;
}

describe('a client certificate', () => {
  it('is accepted with subject, fingerprint, end of validity and chain', async () => {
    const alice = await client({ notAfter: new Date('2045-01-02T03:04:05Z') });
    const root = new X509Certificate(ca.certificatePem);
    const own = new X509Certificate(alice.certificatePem);
    const verdict = (await open()).verify(der(alice));
    expect({
      ...verdict,
      chain: verdict.ok && verdict.chain.map((one) => one.serialNumber),
    }).toEqual({
      ok: true,
      subject: ALICE,
      issuer: '/DC=org/DC=grid/CN=Test CA',
      fingerprint: own.fingerprint256.replaceAll(':', '').toLowerCase(),
      notAfter: new Date(root.validTo),
      chain: [own.serialNumber, root.serialNumber],
    });
  });

  it('that is absent is refused as none', async () => {
    expect((await open()).verify([])).toEqual({
      ok: false,
      reason: 'none',
      message: 'no client certificate was presented',
    });
  });

  const orders: [string, string, Partial<CertificateOrder>][] = [
    ['has expired', 'expired', { notAfter: new Date(Date.now() - 1_000) }],
    ['is not valid yet', 'not-yet-valid', { notBefore: new Date(Date.now() + DAY) }],
    ['is a server certificate', 'wrong-purpose', { purpose: 'server' }],
    ['is a CA', 'wrong-purpose', { purpose: 'ca' }],
    [
      'has an unknown critical extension',
      'untrusted',
      { extensions: [{ oid: '1.2.3.4', critical: true, value: Buffer.from([5, 0]) }] },
    ],
  ];
  it.each(orders)('that %s is refused as %s', async (_what, reason, order) => {
    expect(outcome((await open()).verify(der(await client(order))))).toBe(reason);
  });

  it('of another CA with the same name is refused as untrusted', async () => {
    const other = await issueCertificate({ subject: '/DC=org/DC=grid/CN=Test CA', purpose: 'ca' });
    const mallory = await client({ issuer: other });
    expect(outcome((await open()).verify(der(mallory, other)))).toBe('untrusted');
  });

  it('that signs itself is refused as untrusted', async () => {
    const self = await issueCertificate({ subject: ALICE, purpose: 'client' });
    expect(outcome((await open()).verify(der(self)))).toBe('untrusted');
  });

  it('that was changed by one byte is refused', async () => {
    const [bytes] = der(await client()) as [Buffer];
    bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
    expect(outcome((await open()).verify([bytes]))).toBe('untrusted');
  });

  it.each([
    ['', Buffer.alloc(0)],
    ['text', Buffer.from('no certificate')],
  ])('that is none (%s) is refused as malformed', async (_what, bytes) => {
    expect(outcome((await open()).verify([bytes]))).toBe('malformed');
  });
});

describe('intermediate CAs', () => {
  const between = (order: Partial<CertificateOrder> = {}): Promise<IssuedCertificate> =>
    issueCertificate({ subject: '/DC=org/DC=grid/CN=Sub', purpose: 'ca', issuer: ca, ...order });

  it('are taken from what the client sends, in any order', async () => {
    const sub = await between();
    const alice = await client({ issuer: sub });
    const authorities = await open();
    expect(outcome(authorities.verify(der(alice, ca, sub)))).toBe(ALICE);
  });

  it('are named as issuers only when they are trusted themselves', async () => {
    const sub = await between();
    const chain = der(await client({ issuer: sub }), sub);
    const authorities = await open();
    expect(authorities.verify(chain)).toMatchObject({ ok: true, issuer: undefined });
    put('sub.pem', sub.certificatePem);
    await authorities.refresh();
    expect(authorities.verify(chain)).toMatchObject({ ok: true, issuer: '/DC=org/DC=grid/CN=Sub' });
  });

  it('are missed when the client leaves them out', async () => {
    const alice = await client({ issuer: await between() });
    expect(outcome((await open()).verify(der(alice)))).toBe('untrusted');
  });

  it('are remembered for a resumed session that shows the leaf only', async () => {
    const sub = await between();
    const alice = await client({ issuer: sub });
    const authorities = await open();
    authorities.verify(der(alice, sub));
    expect(outcome(authorities.verify(der(alice)))).toBe(ALICE);
  });

  it('keep the path length of their issuer', async () => {
    const narrow = await between({ pathLength: 0 });
    const deeper = await between({ subject: '/DC=org/CN=Deeper', issuer: narrow });
    const alice = await client({ issuer: deeper });
    expect(outcome((await open()).verify(der(alice, deeper, narrow)))).toBe('untrusted');
  });

  it('must be CAs: a user cannot sign another user', async () => {
    const bob = await client({ subject: '/DC=org/DC=grid/CN=bob' });
    const forged = await client({ issuer: bob });
    expect(outcome((await open()).verify(der(forged, bob)))).toBe('untrusted');
  });

  it('that are revoked take their certificates along', async () => {
    const sub = await between();
    put('ca.r0', issueRevocationList({ issuer: ca, revoked: [sub] }));
    const alice = await client({ issuer: sub });
    expect(outcome((await open()).verify(der(alice, sub)))).toBe('revoked');
  });
});

describe('revocation lists', () => {
  it('refuse the revoked certificate only', async () => {
    const [alice, bob] = [await client(), await client({ subject: '/DC=org/CN=bob' })];
    put('ca.r0', issueRevocationList({ issuer: ca, revoked: [bob] }));
    const authorities = await open();
    expect([
      outcome(authorities.verify(der(alice))),
      outcome(authorities.verify(der(bob))),
    ]).toEqual([ALICE, 'revoked']);
  });

  it('that are out of date refuse everybody of that CA, unless switched off', async () => {
    const nextUpdate = new Date(Date.now() - 1_000);
    put('ca.r0', issueRevocationList({ issuer: ca, revoked: [], nextUpdate }));
    const alice = await client();
    const strict = await open();
    const lenient = await open({ revocation: { expired: 'accept' } });
    expect([outcome(strict.verify(der(alice))), outcome(lenient.verify(der(alice)))]).toEqual([
      'crl-expired',
      ALICE,
    ]);
  });

  it('that are missing can be demanded', async () => {
    const authorities = await open({ revocation: { missing: 'refuse' } });
    expect(outcome(authorities.verify(der(await client())))).toBe('crl-missing');
  });

  it('signed by somebody else under the same name do not count', async () => {
    const other = await issueCertificate({ subject: '/DC=org/DC=grid/CN=Test CA', purpose: 'ca' });
    const alice = await client();
    put('ca.r0', issueRevocationList({ issuer: other, revoked: [alice] }));
    expect(outcome((await open()).verify(der(alice)))).toBe(ALICE);
  });

  it('with more entries than asn1js reads are searched whole', async () => {
    const serials = Array.from({ length: 20_000 }, (_, index) => (0x1000 + index).toString(16));
    put('ca.crl', issueRevocationList({ issuer: ca, revoked: serials }));
    const last = await client({ serialNumber: (0x1000 + 19_999).toString(16) });
    const next = await client({ serialNumber: (0x1000 + 20_000).toString(16) });
    const authorities = await open();
    expect([
      outcome(authorities.verify(der(last))),
      outcome(authorities.verify(der(next))),
    ]).toEqual(['revoked', ALICE]);
  });
});

describe('the files', () => {
  it('are noticed when a list appears, a CA goes, and a CA comes', async () => {
    const alice = await client();
    const authorities = await open();
    const seen = [outcome(authorities.verify(der(alice)))];
    const step = async (change: () => unknown): Promise<void> => {
      change();
      expect(await authorities.refresh()).toBe(true);
      seen.push(outcome(authorities.verify(der(alice))));
    };
    const list = issueRevocationList({ issuer: ca, revoked: [alice] });
    await step(() => put('ca.r0', list));
    await step(() => unlinkSync(join(directory, 'ca.r0')));
    await step(() => unlinkSync(join(directory, 'ca.pem')));
    await step(() => put('other.0', ca.certificatePem));
    expect(seen).toEqual([ALICE, 'revoked', ALICE, 'untrusted', ALICE]);
    expect(await authorities.refresh()).toBe(false);
  });

  it('are re-read by the timer without being asked', async () => {
    const alice = await client();
    const authorities = await open({ pollSeconds: 0.02 });
    expect(outcome(authorities.verify(der(alice)))).toBe(ALICE);
    put('ca.r0', issueRevocationList({ issuer: ca, revoked: [alice] }));
    const deadline = Date.now() + 25_000;
    while (authorities.verify(der(alice)).ok && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(outcome(authorities.verify(der(alice)))).toBe('revoked');
  });

  it('half written keep their last good content', async () => {
    const lines: string[] = [];
    const alice = await client();
    put('ca.r0', issueRevocationList({ issuer: ca, revoked: [alice] }));
    const authorities = await open({ log: (line) => lines.push(line) });
    put('ca.r0', '-----BEGIN X509 CRL-----\nMIIB');
    await authorities.refresh();
    expect(outcome(authorities.verify(der(alice)))).toBe('revoked');
    expect(lines).toEqual([
      `trusted CAs: ${directory}/ca.r0 cannot be read (it is cut off); its last content stays`,
    ]);
  });

  it('count a CA once when the hashed name is a link to it, and leave users out', async () => {
    symlinkSync('ca.pem', join(directory, '1a2b3c4d.0'));
    put('alice.pem', (await client()).certificatePem);
    expect((await open()).size).toBe(1);
  });

  it('may be one bundle', async () => {
    const other = await issueCertificate({ subject: '/DC=org/CN=Other CA', purpose: 'ca' });
    put('bundle.txt', `# two\n${other.certificatePem}${ca.certificatePem}`);
    const authorities = await open({ paths: [join(directory, 'bundle.txt')] });
    expect([authorities.size, outcome(authorities.verify(der(await client())))]).toEqual([
      2,
      ALICE,
    ]);
  });

  it('that do not exist stop the start', async () => {
    await expect(open({ paths: ['/does/not/exist'] })).rejects.toThrow(
      'the trusted CAs in /does/not/exist cannot be read',
    );
  });
});

describe('proxy certificates', () => {
  it('are refused with a message that says so', async () => {
    const alice = await client();
    const proxy = await issueProxyCertificate(alice, { subject: `${ALICE}/CN=7` });
    expect((await open()).verify(der(proxy, alice))).toEqual({
      ok: false,
      reason: 'proxy-not-allowed',
      message: `${ALICE}/CN=7 is a proxy certificate (RFC 3820); proxies are not accepted here unless they are switched on`,
    });
  });

  it('lead to their end entity when switched on, through several levels', async () => {
    const alice = await client();
    const first = await issueProxyCertificate(alice);
    const second = await issueProxyCertificate(first, {
      proxyLanguage: '1.3.6.1.4.1.3536.1.1.1.9',
    });
    const verdict = (await open({ allowProxies: true })).verify(der(second, first, alice));
    expect(verdict).toMatchObject({
      ok: true,
      subject: ALICE,
      proxy: { depth: 2, isLimited: true },
      fingerprint: new X509Certificate(alice.certificatePem).fingerprint256
        .replaceAll(':', '')
        .toLowerCase(),
    });
  });

  const faults: [string, string, ProxyOrder, ProxyOrder][] = [
    ['path length exceeded', 'invalid-proxy', { pathLength: 0 }, {}],
    ['expired', 'expired', {}, { notAfter: new Date(Date.now() - 1_000) }],
    ['not yet valid', 'not-yet-valid', { notBefore: new Date(Date.now() + DAY) }, {}],
    ['another name', 'invalid-proxy', {}, { subject: '/DC=org/DC=grid/CN=root/CN=1' }],
    ['unknown policy', 'invalid-proxy', {}, { proxyLanguage: '1.2.3' }],
    ['independent', 'proxy-not-allowed', {}, { proxyLanguage: '1.3.6.1.5.5.7.21.2' }],
    ['alternative names', 'invalid-proxy', {}, { subjectAltNames: ['grid.org'] }],
    [
      'proxyCertInfo not critical',
      'invalid-proxy',
      {},
      {
        extensions: [
          {
            oid: '1.3.6.1.5.5.7.1.14',
            critical: false,
            value: Buffer.from('300c300a06082b06010505071501', 'hex'),
          },
        ],
      },
    ],
    [
      'no digitalSignature',
      'invalid-proxy',
      {},
      { extensions: [{ oid: '2.5.29.15', critical: true, value: Buffer.from('03020520', 'hex') }] },
    ],
  ];
  it.each(faults)('with fault %s are refused as %s', async (_what, reason, outer, inner) => {
    const alice = await client();
    const first = await issueProxyCertificate(alice, outer);
    const second = await issueProxyCertificate(first, inner);
    const authorities = await open({ allowProxies: true });
    expect(outcome(authorities.verify(der(second, first, alice)))).toBe(reason);
  });

  it('without their user certificate are refused as untrusted', async () => {
    const proxy = await issueProxyCertificate(await client());
    expect(outcome((await open({ allowProxies: true })).verify(der(proxy)))).toBe('untrusted');
  });

  it('of a revoked user are refused as revoked', async () => {
    const alice = await client();
    put('ca.r0', issueRevocationList({ issuer: ca, revoked: [alice] }));
    const proxy = await issueProxyCertificate(alice);
    expect(outcome((await open({ allowProxies: true })).verify(der(proxy, alice)))).toBe('revoked');
  });

  it('of a kind older than RFC 3820 are never accepted', async () => {
    const alice = await client();
    const legacy = await issueCertificate({
      subject: `${ALICE}/CN=proxy`,
      purpose: 'plain',
      issuer: alice,
    });
    const authorities = await open({ allowProxies: true });
    expect(outcome(authorities.verify(der(legacy, alice)))).toBe('proxy-not-allowed');
  });
});
