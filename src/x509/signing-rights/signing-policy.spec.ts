import { describe, expect, it } from '@jest/globals';
import { growth, LINEAR } from '../../../test/support/growth.js';
import { readSigningPolicy } from './signing-policy.js';

const CA = "access_id_CA X509 '/DC=org/DC=grid/CN=CA'\npos_rights globus CA:sign\n";

/** What the policy says about a subject of its CA: permit and deny, in the order of the file. */
function verdicts(text: string, subject: string): boolean[] {
  const rules = readSigningPolicy(text).rules.filter(
    ({ issuer }) => issuer === '/dc=org/dc=grid/cn=ca',
  );
  return rules.filter(({ fits }) => fits(subject)).map(({ isPermit }) => isPermit);
}

describe('a *.signing_policy', () => {
  it.each([
    ['\'"/DC=org/DC=grid/*"\'', '/DC=org/DC=grid/CN=alice'],
    ['\'"/O=x/*" "/DC=org/DC=grid/*"\'', '/DC=org/DC=grid/CN=alice'],
    ['"/DC=org/DC=grid/*"', '/DC=org/DC=grid/CN=alice'],
    ['"/O=x/*" "/DC=org/DC=grid/*"', '/DC=org/DC=grid/CN=alice'],
    ["'/DC=org/DC=grid/*'", '/DC=org/DC=grid/CN=alice'],
    ['/DC=org/DC=grid/*', '/DC=org/DC=grid/CN=alice'],
    ['\'"/DC=org/DC=grid/*"\' # people', '/DC=org/DC=grid/CN=alice'],
    ['\'"*"\'', '/DC=org/DC=grid/CN=alice'],
    ['\'"/DC=org/DC=grid/CN=al?ce"\'', '/DC=org/DC=grid/CN=alice'],
    ['\'"/C=US/O=x/Email=*@x.org"\'', '/C=US/O=x/emailAddress=a@x.org'],
    ['\'"CN=*,DC=grid,DC=org"\'', '/DC=org/DC=grid/CN=alice'],
    ['\'"/DC=org/CN=a.b (c)*"\'', '/DC=org/CN=a.b (c) d'],
    ["'\"/O=O\\'Neill Lab/*\"'", "/O=O'Neill Lab/CN=x"],
    ["'/O=O\\'Neill Lab/*'", "/O=O'Neill Lab/CN=x"],
    ['"/O=O\'Neill Lab/*"', "/O=O'Neill Lab/CN=x"],
    ['\'"/O=a \\"b\\"/*" "/O=c/*"\'', '/O=a "b"/CN=x'],
    ['\'"/O=c/*" "/O=a \\"b\\"/*"\' # "both"', '/O=a "b"/CN=x'],
    ['"/O=c/*" # not "/O=d/*"', '/O=c/CN=x'],
    ['\'"/O=Universit\\xC3\\xA9/*"\'', '/O=Université/CN=x'],
    ['\'"/O=Universit\\xc3\\xa9/*"\'', '/O=Université/CN=x'],
    ['\'"/O=Université/*"\'', '/O=Université/CN=x'],
    ['\'"/O=a\\x5Cb/*"\'', '/O=a\\x5Cb/CN=x'],
  ])('with cond_subjects globus %s permits %s', (value, subject) => {
    expect(verdicts(`${CA}cond_subjects globus ${value}\n`, subject)).toEqual([true]);
  });

  it.each([
    ['\'"/DC=org/DC=grid/*"\'', '/DC=org/DC=other/CN=alice'],
    ['\'"/DC=org/DC=grid/*"\'', '/O=x/DC=org/DC=grid/CN=alice'],
    ['\'"/DC=org/DC=grid/CN=alice"\'', '/DC=org/DC=grid/CN=alice/CN=more'],
    ['\'"/DC=org/DC=Grid/*"\'', '/DC=org/DC=grid/CN=alice'],
    ['\'"/DC=org/DC=grid/CN=al?ce"\'', '/DC=org/DC=grid/CN=ale'],
    ['\'"/CN=a.b"\'', '/CN=axb'],
  ])('with cond_subjects globus %s says nothing of %s', (value, subject) => {
    expect(verdicts(`${CA}cond_subjects globus ${value}\n`, subject)).toEqual([]);
  });

  it('has comments, blank lines, tabs, and entries for several CAs in any spelling', () => {
    const text = [
      '# for two names of one CA\r',
      '\r',
      "\taccess_id_CA\tX509\t'CN=ca,DC=Grid,DC=org'\r",
      " access_id_CA X509 '/C=US/CN=Old CA'\r",
      ' pos_rights globus CA:sign\r',
      '  cond_subjects globus \'"/O=a/*"\'\r',
      "access_id_CA X509 '/C=US/CN=Old CA'",
      'pos_rights globus CA:sign',
      'cond_subjects globus \'"/O=b/*"\'',
    ].join('\n');
    const { rules } = readSigningPolicy(text);
    const issuers = (subject: string): unknown[] =>
      rules.filter(({ fits }) => fits(subject)).map(({ issuer }) => issuer);
    expect(issuers('/O=a/CN=x')).toEqual(['/dc=org/dc=grid/cn=ca', '/c=us/cn=old ca']);
    expect(issuers('/O=b/CN=x')).toEqual(['/c=us/cn=old ca']);
  });

  it.each([
    ["'/C=IE/O=O\\'Neill Lab/CN=O\\'Neill Lab CA'", "/c=ie/o=o'neill lab/cn=o'neill lab ca"],
    ["'/O=Jos\\xC3\\xA9/CN=CA'", '/o=josé/cn=ca'],
    ['\'"/O=x/CN=CA"\' # ours', '/o=x/cn=ca'],
    ["'CN=a\\, b,O=x'", '/o=x/cn=a, b'],
    ['\'/O=\\"x\\"/CN=CA\'', undefined],
  ])('has the CA access_id_CA X509 %s', (value, issuer) => {
    const text = `access_id_CA X509 ${value}\npos_rights globus CA:sign\ncond_subjects globus '"*"'`;
    if (issuer === undefined) expect(() => readSigningPolicy(text)).toThrow('line 1');
    else expect(readSigningPolicy(text).rules.map((rule) => rule.issuer)).toEqual([issuer]);
  });

  it('denies by neg_rights, without conditions everything', () => {
    const limited = `${CA}cond_subjects globus '"/O=a/*"'\nneg_rights globus CA:sign\ncond_subjects globus '"/O=a/OU=b/*"'`;
    expect(verdicts(limited, '/O=a/OU=b/CN=x')).toEqual([true, false]);
    expect(verdicts(limited, '/O=a/CN=x')).toEqual([true]);
    const all = CA.replace('pos_rights', 'neg_rights');
    expect(verdicts(all, '/O=a/CN=x')).toEqual([false]);
  });

  it('grants nothing by rights to something else', () => {
    const text = `${CA.replace('CA:sign', 'CRL:sign')}cond_subjects globus '"*"'`;
    expect(verdicts(text, '/O=a/CN=x')).toEqual([]);
  });

  it('that is empty has no rule', () => {
    expect(readSigningPolicy('# nothing\n')).toEqual({ rules: [], leftOut: [] });
  });

  it.each([
    ['garbage tokens here', 'line 1: garbage is not expected here'],
    ['access_id_CA X509', 'line 1: a word, an authority and a value are expected'],
    ["access_id_CA X509 '/DC=org", 'line 1: a quote is not closed'],
    ["access_id_CA X509 '/DC=org' x", 'line 1: there is text behind the quotes'],
    ["access_id_CA X509 '/O=O'Neill/CN=CA'", 'line 1: there is text behind the quotes'],
    ["access_id_CA X509 '/O=x\\'", 'line 1: a quote is not closed'],
    [
      `${CA}cond_subjects globus '"/O=\\xC3/*"'`,
      'line 3: not a distinguished name: a value is not UTF-8',
    ],
    ["access_id_CA X509 'nobody'", 'line 1: not a distinguished name'],
    ["access_id_CA kerberos '/DC=org'", 'line 1: the authority kerberos is not known here'],
    ["access_id_ANYBODY globus '*'", 'line 1: access_id_ANYBODY is not expected here'],
    ['pos_rights globus CA:sign', 'line 1: no access_id_CA before it'],
    [CA, 'line 2: a right to sign without cond_subjects'],
    ["access_id_CA X509 '/DC=org'", 'line 1: an entry ends without rights'],
    [`${CA}cond_subjects globus ''`, 'line 3: a pattern is empty'],
    [`${CA}cond_subjects globus '"/O=a" x'`, 'line 3: patterns must each stand in double quotes'],
    [`${CA}cond_subjects x509 '"*"'`, 'line 3: the authority x509 is not known here'],
    [`${CA}cond_subjects globus '"alice"'`, 'line 3: not a distinguished name'],
  ])('%j is a fault: %s', (text, fault) => {
    expect(() => readSigningPolicy(text)).toThrow(fault);
  });

  it.each([
    ['"alice"', 'line 3: not a distinguished name'],
    ['""', 'line 3: a pattern is empty'],
    ['"/O=\\xC3/*"', 'line 3: not a distinguished name: a value is not UTF-8'],
    ['"/O=Caf\ufffd/*"', 'line 3: not a distinguished name: it is not UTF-8'],
    ['" "', 'line 3: a pattern is empty'],
    ['"CN="', 'line 3: not a distinguished name'],
  ])('leaves the pattern %s out, and the others count', (odd, fault) => {
    for (const list of [`${odd} "/O=a/*"`, `"/O=a/*" ${odd}`]) {
      const text = `${CA}cond_subjects globus '${list}'`;
      expect(verdicts(text, '/O=a/CN=x')).toEqual([true]);
      expect(verdicts(text, '/O=b/CN=x')).toEqual([]);
      expect(readSigningPolicy(text).leftOut.map(({ message }) => message)).toEqual([
        expect.stringContaining(fault),
      ]);
      const denial = `${text}\nneg_rights globus CA:sign\ncond_subjects globus '${list}'`;
      expect(() => readSigningPolicy(denial)).toThrow('line 5: ');
    }
  });

  it('matches in linear time whatever its patterns', () => {
    const [rule] = readSigningPolicy(`${CA}cond_subjects globus '"*a*a*b"'`).rules;
    const subjectOf = (size: number): string => 'a'.repeat(size);
    expect(rule?.fits(subjectOf(1_000))).toBe(false);
    expect(growth(subjectOf, 30, (subject) => rule?.fits(subject))).toBeLessThan(LINEAR);
  });
});
