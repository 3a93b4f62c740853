import { coversPath, plainPath, readScopePath, scopePathOf, scopePathText } from './scope-path.js';

describe('the path of a storage scope', () => {
  it.each([
    ['/', '/', '/'],
    ['/vo/a', '/vo/a', '/vo/a'],
    ['/vo/a/', '/vo/a/', '/vo/a'],
    ['/%76o/%c3%a4', '/vo/%C3%A4', '/vo/ä'],
    ['/a%20b/c%25', '/a%20b/c%25', '/a b/c%'],
    ['/a=b:c@d&e+f$g,h;i', '/a=b:c@d&e+f$g,h;i', '/a=b:c@d&e+f$g,h;i'],
    ['/...', '/...', '/...'],
  ])('%s is written %s and means %s', (text, normal, plain) => {
    const path = readScopePath(text)!;
    expect([scopePathText(path), plainPath(path)]).toEqual([normal, plain]);
    expect(readScopePath(normal)).toEqual(path);
  });

  it.each([
    ...['', 'vo', 'vo/a', '//', '/a//b', '/a//', '/.', '/a/./b', '/a/../b', '/a/..', '/%2e%2e/b'],
    ...['/a/%2E', '/a%2Fb', '/a%00b', '/a%0ab', '/a%', '/%zz', '/%ff', `/${'a'.repeat(2048)}`],
  ])('%j is none', (text) => {
    expect(readScopePath(text)).toBeUndefined();
  });

  it.each([
    ['/', '/', true],
    ['/', '/a', true],
    ['/foo', '/foo', true],
    ['/foo', '/foo/', true],
    ['/foo', '/foo/bar', true],
    ['/foo', '/foobar', false],
    ['/foo', '/fo', false],
    ['/foo', '/', false],
    ['/foo/bar', '/foo', false],
    ['/foo/', '/foo', false],
    ['/foo/', '/foo/', true],
    ['/foo/', '/foo/bar', true],
    ['/a/b', '/a/c/b', false],
    ['/A', '/a', false],
  ])('%s is above %s: %s', (outer, inner, expected) => {
    expect(coversPath(readScopePath(outer)!, readScopePath(inner)!)).toBe(expected);
  });

  it('is that of a directory or a file of the catalogue', () => {
    expect(scopePathOf('/vo/a', 'file')).toEqual({ names: ['vo', 'a'], isDirectory: false });
    expect(scopePathOf('/', 'directory')).toEqual({ names: [], isDirectory: true });
  });
});
