import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificateSubject } from '../certificate/certificate-fields.js';
import { issueProxyCertificate } from '../../../test/support/certificates.js';
import {
  issueCertificate,
  type CertificateOrder,
  type IssuedCertificate,
} from '../issuing/certificate-issuer.js';
import {
  TrustedAuthorities,
  type TrustedAuthoritiesOptions,
} from '../trust/trusted-authorities.js';
import { nameHashes } from './name-hash.js';

const ROOT = '/DC=org/DC=grid/CN=Root';
const SUB = '/DC=org/DC=grid/CN=Sub';
const ALICE = '/DC=org/DC=grid/CN=alice';
const MALLORY = '/DC=org/DC=elsewhere/CN=alice';

const NO_NAME = 'not a distinguished name: type=value is expected at character 1: ';

let directory: string;
let root: IssuedCertificate;
let sub: IssuedCertificate;
let hash: string;
let subHash: string;
const opened: TrustedAuthorities[] = [];

beforeAll(async () => {
  root = await issueCertificate({ subject: ROOT, purpose: 'ca' });
  sub = await issueCertificate({ subject: SUB, purpose: 'ca', issuer: root });
  hash = hashOf(root);
  subHash = hashOf(sub);
});

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gridgate-policies-'));
  put(`${hash}.0`, root.certificatePem);
});

afterEach(() => {
  for (const authorities of opened.splice(0)) authorities.close();
  rmSync(directory, { recursive: true });
});

function put(name: string, text: string): void {
  writeFileSync(join(directory, name), text);
}

function der({ certificatePem }: IssuedCertificate): Buffer {
  return new X509Certificate(certificatePem).raw;
}

function hashOf(ca: IssuedCertificate): string {
  return nameHashes(certificateSubject(der(ca)))[0];
}

function eacl(issuer: string, pattern: string): string {
  return `access_id_CA X509 '${issuer}'\npos_rights globus CA:sign\ncond_subjects globus '"${pattern}"'\n`;
}

function namespaces(issuer: string, pattern: string, word = 'PERMIT'): string {
  return `TO Issuer ${issuer === 'SELF' ? issuer : `"${issuer}"`} ${word} Subject "${pattern}"\n`;
}

async function open(options: Partial<TrustedAuthoritiesOptions> = {}): Promise<TrustedAuthorities> {
  const authorities = await TrustedAuthorities.open({ paths: [directory], ...options });
  opened.push(authorities);
  return authorities;
}

const issued = new Map<string, Promise<IssuedCertificate>>();

/** Without an order always the same one of a subject. */
function client(subject: string, order?: Partial<CertificateOrder>): Promise<IssuedCertificate> {
  const plain = { subject, purpose: 'client' as const, issuer: root };
  if (order) return issueCertificate({ ...plain, ...order });
  const known = issued.get(subject) ?? issueCertificate(plain);
  issued.set(subject, known);
  return known;
}

async function outcome(
  subject: string,
  order?: Partial<CertificateOrder> & { more?: IssuedCertificate[] },
): Promise<string> {
  const { more = [], ...rest } = order ?? {};
  const one = await client(subject, order && rest);
  const verdict = (await open()).verify([one, ...more].map(der));
  return verdict.ok ? verdict.subject : `${verdict.reason}: ${verdict.message}`;
}

describe('a CA in grid layout', () => {
  it('without a policy may sign anybody', async () => {
    expect(await outcome(MALLORY)).toBe(MALLORY);
  });

  it('in a bundle may sign anybody, whatever files lie beside it', async () => {
    put('bundle.pem', root.certificatePem);
    put('bundle.signing_policy', eacl(ROOT, '/O=nobody/*'));
    const mallory = await issueCertificate({ subject: MALLORY, purpose: 'client', issuer: root });
    const authorities = await open({ paths: [join(directory, 'bundle.pem')] });
    expect(authorities.verify([der(mallory)])).toMatchObject({ ok: true, subject: MALLORY });
  });

  it.each([
    ['signing_policy', eacl(ROOT, '/DC=org/DC=grid/*')],
    ['namespaces', namespaces(ROOT, '/DC=org/DC=grid/.*')],
    ['namespaces', namespaces('SELF', '/DC=org/DC=grid/.*')],
  ])('with a *.%s may sign whom it permits, and nobody else', async (kind, text) => {
    put(`${hash}.${kind}`, text);
    expect(await outcome(ALICE)).toBe(ALICE);
    expect(await outcome(MALLORY)).toBe(
      `outside-namespace: ${ROOT} may not sign ${MALLORY}: ${directory}/${hash}.${kind} does not permit it`,
    );
  });

  it('with both files needs the permission of both', async () => {
    put(`${hash}.signing_policy`, eacl(ROOT, '*'));
    put(`${hash}.namespaces`, namespaces(ROOT, '/DC=org/DC=grid/.*'));
    expect(await outcome(ALICE)).toBe(ALICE);
    expect(await outcome(MALLORY)).toContain(`${hash}.namespaces does not permit it`);
    put(`${hash}.signing_policy`, eacl(ROOT, '/O=x/*'));
    expect(await outcome(ALICE)).toContain(`${hash}.signing_policy does not permit it`);
  });

  it('is bound by a denial, wherever it stands', async () => {
    put(
      `${hash}.namespaces`,
      namespaces(ROOT, ALICE, 'DENY') + namespaces(ROOT, '/DC=org/.*') + namespaces(ROOT, '.*'),
    );
    expect(await outcome(ALICE)).toBe(
      `outside-namespace: ${ROOT} may not sign ${ALICE}: ${directory}/${hash}.namespaces denies it`,
    );
    expect(await outcome(MALLORY)).toBe(MALLORY);
  });

  it('may have a policy called like its own file, or by the old hash', async () => {
    put('my-ca.pem', root.certificatePem);
    put('my-ca.signing_policy', eacl(ROOT, '/O=x/*'));
    expect(await outcome(ALICE)).toContain('my-ca.signing_policy does not permit it');
    const [, old] = nameHashes(certificateSubject(der(root)));
    put(`${old}.signing_policy`, eacl(ROOT, '/DC=org/*'));
    expect(await outcome(ALICE)).toBe(ALICE);
  });

  it('is not bound by the policy of another CA', async () => {
    put('00000000.signing_policy', eacl(ROOT, '/O=x/*'));
    expect(await outcome(ALICE)).toBe(ALICE);
  });

  it.each([
    [
      'is broken',
      'pos_rights',
      'cannot be understood: line 1: a word, an authority and a value are expected',
    ],
    ['is empty', '', 'does not name it'],
    ['names another CA only', eacl('/CN=Other', '*'), 'does not name it'],
  ])('whose policy %s may sign nobody', async (_what, text, why) => {
    put(`${hash}.signing_policy`, text);
    expect(await outcome(ALICE)).toBe(
      `outside-namespace: ${ROOT} may not sign ${ALICE}: ${directory}/${hash}.signing_policy ${why}`,
    );
  });

  it('whose policy allows nothing is named in the log and the notes', async () => {
    const lines: string[] = [];
    put(`${hash}.signing_policy`, 'nonsense');
    put(`${subHash}.0`, sub.certificatePem);
    put(`${subHash}.namespaces`, '# nothing\n');
    const authorities = await open({ log: (line) => lines.push(line) });
    const notes = [
      `${directory}/${hash}.signing_policy cannot be understood (line 1: a word, an authority and a value are expected); its CA may sign nothing`,
      `${SUB} may sign nothing: ${directory}/${subHash}.namespaces does not name it`,
    ];
    expect([...authorities.notes].sort()).toEqual([...notes].sort());
    expect(lines.sort()).toEqual(notes.map((note) => `trusted CAs: ${note}`).sort());
    put(`${hash}.signing_policy`, eacl(ROOT, '*'));
    put(`${subHash}.namespaces`, namespaces('SELF', '.*'));
    await authorities.refresh();
    expect(authorities.notes).toEqual([]);
  });

  it('follows its policy when the file changes, without a restart', async () => {
    const alice = await issueCertificate({ subject: ALICE, purpose: 'client', issuer: root });
    const authorities = await open();
    const seen = [authorities.verify([der(alice)]).ok];
    for (const text of [eacl(ROOT, '/O=x/*'), eacl(ROOT, '/DC=org/DC=grid/*'), 'broken']) {
      put(`${hash}.signing_policy`, text);
      expect(await authorities.refresh()).toBe(true);
      seen.push(authorities.verify([der(alice)]).ok);
    }
    expect(seen).toEqual([true, false, true, false]);
  });
});

describe('a chain of CAs', () => {
  const below = { more: [] as IssuedCertificate[] };
  beforeEach(() => {
    below.more = [sub];
  });

  it('is judged at each level', async () => {
    put(`${hash}.signing_policy`, eacl(ROOT, ALICE));
    expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(
      `outside-namespace: ${ROOT} may not sign ${SUB}: ${directory}/${hash}.signing_policy does not permit it`,
    );
    put(`${hash}.signing_policy`, eacl(ROOT, SUB));
    expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(ALICE);
    put(`${subHash}.namespaces`, namespaces(SUB, '/O=x/.*'));
    expect(await outcome(ALICE, { ...below, issuer: sub })).toContain(`${SUB} may not sign`);
  });

  it('may be bound by what the file of the CA above says', async () => {
    put(`${hash}.namespaces`, namespaces(ROOT, SUB) + namespaces(SUB, '/DC=org/DC=grid/.*'));
    expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(ALICE);
    expect(await outcome(MALLORY, { ...below, issuer: sub })).toContain(
      `${SUB} may not sign ${MALLORY}: ${directory}/${hash}.namespaces does not permit it`,
    );
    put(`${subHash}.namespaces`, namespaces(SUB, '.*'));
    expect(await outcome(MALLORY, { ...below, issuer: sub })).toBe(MALLORY);
  });

  it.each([
    [
      'namespaces',
      namespaces(SUB, '/DC=(org'),
      namespaces(ROOT, '.*'),
      'line 1: error parsing regexp: missing closing ): `(?s)/DC=(org`',
    ],
    [
      'namespaces',
      namespaces('no name', '.*'),
      namespaces(ROOT, '.*'),
      `line 1: ${NO_NAME}"no name"`,
    ],
    ['signing_policy', eacl(SUB, 'alice'), eacl(ROOT, '*'), `line 3: ${NO_NAME}"alice"`],
  ])(
    'is bound by a *.%s of which what it permits is not understood',
    async (kind, odd, other, why) => {
      const above = { namespaces: namespaces, signing_policy: eacl }[kind] as typeof eacl;
      const all = kind === 'namespaces' ? '.*' : '*';
      const file = `${directory}/${subHash}.${kind}`;
      put(`${hash}.${kind}`, above(ROOT, all) + above(SUB, all));
      expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(ALICE);
      put(`${subHash}.${kind}`, odd + other);
      expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(
        `outside-namespace: ${SUB} may not sign ${ALICE}: ${file} does not permit it; not understood: ${file}, ${why}`,
      );
      put(`${subHash}.${kind}`, odd + other + above(SUB, all));
      expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(ALICE);
    },
  );

  it('is shut out by a line of the CA above that may be about it, which is named', async () => {
    const file = `${directory}/${hash}.namespaces`;
    const why = `line 2: ${NO_NAME}"no name"`;
    put(`${hash}.namespaces`, namespaces(ROOT, '.*') + namespaces('no name', '.*'));
    expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(
      `outside-namespace: ${SUB} may not sign ${ALICE}: ${file} does not permit it; not understood: ${file}, ${why}`,
    );
    expect(await outcome(ALICE)).toBe(ALICE);
    expect((await open()).notes).toEqual([
      `${file}: ${why}; it may be about any CA below: one without a policy of its own signs nothing unless a line here permits it; this permits nothing, the rest counts`,
    ]);
    put(`${hash}.namespaces`, namespaces(ROOT, '.*') + namespaces(SUB, '/O=x'));
    expect(await outcome(ALICE, { ...below, issuer: sub })).toBe(
      `outside-namespace: ${SUB} may not sign ${ALICE}: ${file} does not permit it`,
    );
  });

  it('ends at a user, whose proxies no policy needs to name', async () => {
    put(`${hash}.signing_policy`, eacl(ROOT, ALICE));
    const alice = await issueCertificate({ subject: ALICE, purpose: 'client', issuer: root });
    const proxy = await issueProxyCertificate(alice, { subject: `${ALICE}/CN=7` });
    const verdict = (await open({ allowProxies: true })).verify([proxy, alice].map(der));
    expect(verdict).toMatchObject({ ok: true, subject: ALICE });
  });
});
