import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { runs, seed } from '../../../test/support/counts.js';
import { issueCertificate } from '../issuing/certificate-issuer.js';
import {
  canonicalDn,
  decodeName,
  dnOfCertificate,
  formatDn,
  parseDn,
  type RelativeName,
} from './distinguished-name.js';

const ALICE = '/DC=org/DC=grid/CN=alice';

describe('canonicalDn', () => {
  it.each([
    ['slash form', '/DC=org/DC=grid/CN=alice', ALICE],
    ['RFC 4514', 'CN=alice,DC=grid,DC=org', ALICE],
    ['RFC 2253 with blanks and semicolons', 'CN = alice ; DC=grid;  DC=org', ALICE],
    ['comma form in certificate order (OpenSSL)', 'DC = org, DC = grid, CN = alice', ALICE],
    [
      'types in any case, by long name or identifier',
      '/domaincomponent=org/dc=grid/2.5.4.3=alice',
      ALICE,
    ],
    ['OID. before an identifier', 'OID.2.5.4.3=alice,DC=grid,DC=org', ALICE],
    ['blanks around the whole', `  ${ALICE}\n`, ALICE],
    ['e-mail by every name', 'E=a@b.org,O=Grid', '/O=Grid/emailAddress=a@b.org'],
    ['USERID', '/DC=org/USERID=al', '/DC=org/UID=al'],
    ['a host after a slash', '/DC=org/CN=host/node.grid.org', '/DC=org/CN=host/node.grid.org'],
    ['an equals sign and a comma in a value', '/O=a=b/CN=Doe, Jane', '/O=a=b/CN=Doe, Jane'],
    ['escapes of RFC 4514', 'CN=Doe\\, Jane\\2C\\20x,O=Grid\\+Co', '/O=Grid+Co/CN=Doe, Jane, x'],
    ['UTF-8 in hex pairs', 'CN=Jos\\C3\\A9,O=Grid', '/O=Grid/CN=José'],
    ['UTF-8 the way OpenSSL writes it', '/O=Grid/CN=Jos\\xC3\\xA9', '/O=Grid/CN=José'],
    ['a quoted value', 'CN="Doe, Jane",O=Grid', '/O=Grid/CN=Doe, Jane'],
    ['a hex value that is text', 'CN=#0C05616C696365,DC=grid,DC=org', ALICE],
    ['a hex value that is none', 'CN=#030203A8,O=Grid', '/O=Grid/CN=#030203a8'],
    ['several attributes in one part, sorted', 'UID=7+CN=al,O=Grid', '/O=Grid/CN=al+UID=7'],
    ['the same in slash form', '/O=Grid/UID=7+CN=al', '/O=Grid/CN=al+UID=7'],
    ['an unknown type by identifier', '/O=Grid/1.2.3.4=x', '/O=Grid/1.2.3.4=x'],
    ['an escaped blank at the end', 'CN=al\\ ,O=Grid', '/O=Grid/CN=al\\x20'],
    ['a value that would read as two', 'CN=x/CN\\=alice,O=Grid', '/O=Grid/CN=x\\x2FCN=alice'],
  ])('takes %s', (_what, text, expected) => {
    expect(canonicalDn(text)).toBe(expected);
    expect(canonicalDn(expected)).toBe(expected);
  });

  it('compares values letter by letter', () => {
    expect(canonicalDn('/DC=org/CN=Alice')).not.toBe(canonicalDn('/DC=org/CN=alice'));
  });

  it.each([
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['alice', 'type=value is expected at character 1'],
    ['/alice', '"/" must be followed by type=value'],
    ['//DC=org', '"/" must be followed by type=value'],
    ['/FOO=x', 'the attribute type "FOO" is not known'],
    ['/DC=org/FOO=x', 'the attribute type "FOO" is not known'],
    ['/DC=org/CN=', 'CN has no value'],
    ['CN=,O=x', 'CN has no value'],
    ['CN=a,', 'type=value is expected at character 6'],
    ['CN=a\\', 'a backslash escapes nothing here'],
    ['CN=a\\q,O=x', 'a backslash escapes nothing here'],
    ['/CN=a\\q', 'a backslash must be followed by x and two hex digits'],
    ['CN="a,O=x', 'a quote is not closed'],
    ['CN="a"b,O=x', 'a separator is expected after a quoted value'],
    ['CN=#0C0', '"#" must be followed by pairs of hex digits'],
    ['CN=#0C05', 'a hex value is no DER'],
    ['CN=a<b,O=x', '"<" must be escaped'],
    ['/CN=\\xC3', 'a value is not UTF-8'],
    [`/CN=${'a'.repeat(5_000)}`, 'it is longer than 4096 characters'],
  ])('refuses "%s"', (text, problem) => {
    expect(() => canonicalDn(text)).toThrow(`not a distinguished name: ${problem}`);
  });

  it('reads back whatever it writes', () => {
    const character = fc.oneof(
      fc.integer({ min: 0, max: 0xd7ff }),
      fc.integer({ min: 0xe000, max: 0x10ffff }),
    );
    const unit = character.map((point) => String.fromCodePoint(point)); // 'binary' takes 0.7 s to begin
    const attribute = fc.record({
      type: fc.constantFrom('CN', 'DC', 'O', 'UID', 'emailAddress', '1.2.3'),
      value: fc.oneof(
        fc.string({ minLength: 1, maxLength: 12, unit }),
        fc.stringMatching(/^[/+=CN#\\ ,x2F]{1,9}$/),
      ),
    });
    const name = fc.uniqueArray(attribute, { minLength: 1, maxLength: 2, selector: (a) => a.type });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names: RelativeName[]) => {
        const text = formatDn(names);
        expect(formatDn(parseDn(text))).toBe(text);
        const values = (list: RelativeName[]): unknown =>
          list.map((one) => one.map(({ type, value }) => `${type} ${value}`).sort());
        expect(values(parseDn(text))).toEqual(values(names));
      }),
      { seed, numRuns: runs(1_000) },
    );
  });
});

describe('dnOfCertificate', () => {
  it('is the canonical DN of the subject', async () => {
    const subject = 'CN=Doe\\, Jane + UID=7,OU=a/b,DC=grid,DC=org';
    const { certificatePem } = await issueCertificate({ subject, purpose: 'client' });
    expect(dnOfCertificate(new X509Certificate(certificatePem))).toBe(canonicalDn(subject));
  });

  it('reads every kind of string', () => {
    // CN as PrintableString "a", TeletexString "é", BMPString "é", UniversalString "é"
    const sets = ['130161', '1401e9', '1e0200e9', '1c04000000e9'].map((value) => {
      const attribute = `0603550403${value}`;
      const sequence = `30${(attribute.length / 2).toString(16).padStart(2, '0')}${attribute}`;
      return `31${(sequence.length / 2).toString(16).padStart(2, '0')}${sequence}`;
    });
    const body = sets.join('');
    const der = Buffer.from(`30${(body.length / 2).toString(16)}${body}`, 'hex');
    expect(formatDn(decodeName(der))).toBe('/CN=a/CN=é/CN=é/CN=é');
  });
});
