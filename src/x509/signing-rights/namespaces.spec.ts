import { describe, expect, it } from '@jest/globals';
import { growth, LINEAR } from '../../../test/support/growth.js';
import { readNamespaces } from './namespaces.js';
import { SELF } from './signing-rule.js';

const ALICE = '/DC=org/DC=grid/CN=alice';

function verdicts(text: string, subject: string): boolean[] {
  return readNamespaces(text)
    .rules.filter(({ fits }) => fits(subject))
    .map(({ isPermit }) => isPermit);
}

function permit(pattern: string): string {
  return `TO Issuer "/DC=org/CN=CA" PERMIT Subject "${pattern}"`;
}

describe('a *.namespaces', () => {
  it.each([
    ['/DC=org/DC=grid/.*', ALICE],
    ['/DC=org/DC=grid/CN=[a-z]+', ALICE],
    ['/DC=org/DC=grid/.* ', ALICE],
    ['.*', ALICE],
    ['/C=US/(O=a|O=b)/CN=\\w+', '/C=US/O=b/CN=x'],
    ['/C=US/Email=.*', '/C=US/emailAddress=a@x.org'],
    ['CN=.*,DC=grid,DC=org', ALICE],
    ["/O=O'Neill Lab/.*", "/O=O'Neill Lab/CN=x"],
    ['/O=Universit\\xC3\\xA9/.*', '/O=Université/CN=x'],
    ['/O=\\"x\\"/.*', '/O="x"/CN=y'],
    ['/O=a\\x2Eb/.*', '/O=a.b/CN=x'],
  ])('with Subject "%s" permits %s', (pattern, subject) => {
    expect(verdicts(permit(pattern), subject)).toEqual([true]);
  });

  it.each([
    ['/DC=org/DC=grid', ALICE],
    ['/DC=grid/.*', ALICE],
    ['/DC=org/DC=GRID/.*', ALICE],
    ['/C=US/CN=a\\.b', '/C=US/CN=axb'],
  ])('with Subject "%s" says nothing of %s', (pattern, subject) => {
    expect(verdicts(permit(pattern), subject)).toEqual([]);
  });

  it('has comments, continued lines, words in any case, SELF, and denials', () => {
    const text = [
      '##########',
      '#NAMESPACES-VERSION: 1.0\r',
      '# @(#)1a2b3c4d.namespaces',
      'TO Issuer "CN=CA,DC=Grid,DC=org" \\',
      '  PERMIT Subject "/DC=org/DC=grid/.*" # people\r',
      '',
      'to issuer self deny subject "/DC=org/DC=grid/OU=\\"x\\"#1/.*"',
    ].join('\n');
    expect(readNamespaces(text).rules.map(({ issuer, isPermit }) => [issuer, isPermit])).toEqual([
      ['/dc=org/dc=grid/cn=ca', true],
      [SELF, false],
    ]);
    expect(verdicts(text, '/DC=org/DC=grid/OU="x"#1/CN=a')).toEqual([true, false]);
  });

  it('that is empty has no rule', () => {
    expect(readNamespaces('#NAMESPACES-VERSION: 1.0\n')).toEqual({ rules: [], leftOut: [] });
  });

  it.each([
    ['#NAMESPACES-VERSION: 2.0', 'line 1: version 2.0 of the format is not known'],
    ['FROM Issuer', 'line 1: TO is expected'],
    ['\nTO Issuer "/CN=CA" ALLOW', 'line 2: PERMIT or DENY is expected'],
    [
      'TO Issuer /CN=CA PERMIT Subject ".*"',
      'line 1: an issuer in double quotes, or SELF, is expected',
    ],
    ['TO Issuer "CA" PERMIT Subject ".*"', 'line 1: not a distinguished name'],
    ['TO Issuer SELF PERMIT Subject .*', 'line 1: a subject in double quotes is expected'],
    ['TO Issuer SELF PERMIT Subject ""', 'line 1: a subject in double quotes is expected'],
    ['TO Issuer SELF PERMIT Subject', 'line 1: a sentence is not whole'],
    ['TO Issuer SELF PERMIT Subject "/CN=(a"', 'line 1: error parsing regexp'],
    ['TO Issuer SELF PERMIT Subject "*"', 'line 1: error parsing regexp'],
    ['TO Issuer SELF PERMIT Subject "/CN=.*', 'line 1: " is not expected here'],
    [`${permit('.*')} more`, 'line 1: TO is expected'],
  ])('%j is a fault: %s', (text, fault) => {
    expect(() => readNamespaces(text)).toThrow(fault);
  });

  it.each([
    ['TO Issuer SELF PERMIT Subject "/CN=(a"', 'line 2: error parsing regexp'],
    ['TO Issuer SELF PERMIT Subject "/CN=(?=a)"', 'line 2: error parsing regexp'],
    ['TO Issuer "CA" PERMIT Subject ".*"', 'line 2: not a distinguished name'],
    ['TO Issuer "/CN=\\xC3" PERMIT Subject ".*"', 'line 2: not a distinguished name'],
    ['TO Issuer SELF PERMIT Subject "*"', 'line 2: error parsing regexp'],
    ['TO Issuer SELF PERMIT Subject "/CN=\ufffd"', 'line 2: not a distinguished name: it is not'],
  ])('leaves %s out, and the rest counts', (odd, fault) => {
    const text = `${permit('/CN=a')}\n${odd}\n${permit('/CN=b')}`;
    expect(verdicts(text, '/CN=a')).toEqual([true]);
    expect(verdicts(text, '/CN=b')).toEqual([true]);
    expect(readNamespaces(text).rules).toHaveLength(3);
    expect(readNamespaces(text).leftOut.map(({ message }) => message)).toEqual([
      expect.stringContaining(fault),
    ]);
  });

  it.each([
    'TO Issuer SELF DENY Subject "/CN=(a"',
    'TO Issuer "CA" DENY Subject ".*"',
    'TO Issuer SELF PERMIT Subject .*',
    'TO Issuer CA PERMIT Subject ".*"',
    'TO Everybody PERMIT Subject ".*"',
  ])('that has %s is a fault as a whole', (odd) => {
    expect(() => readNamespaces(`${permit('/CN=a')}\n${odd}`)).toThrow('line 2: ');
  });

  it('matches in linear time whatever its patterns', () => {
    const [rule] = readNamespaces(permit('/CN=a*a*a*b')).rules;
    const subjectOf = (size: number): string => `/CN=${'a'.repeat(size)}`;
    expect(rule?.fits(subjectOf(1_000))).toBe(false);
    expect(growth(subjectOf, 30, (subject) => rule?.fits(subject))).toBeLessThan(LINEAR);
  });
});
