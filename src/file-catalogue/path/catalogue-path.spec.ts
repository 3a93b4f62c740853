import { describe, expect, it } from '@jest/globals';
import {
  baseName,
  decodeDirectoryPath,
  decodeFilePath,
  encodePath,
  joinPath,
  namesBelow,
  parentPath,
  pathChain,
  pathFault,
} from './catalogue-path.js';

const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64url');

describe('the path codec', () => {
  it.each([
    '/',
    '/vo',
    '/vo/a b',
    '/vo/50%',
    '/vo/~',
    `/vo/it's "x"`,
    '/vö/日本/🚀',
    '/vo/...',
    `/${'n'.repeat(255)}`,
    '/a'.repeat(100),
  ])('reads %j back', (path) => {
    expect(decodeDirectoryPath(encodePath(path))).toEqual({ path });
  });

  it.each([
    ['with padding', Buffer.from('/vo').toString('base64'), '/vo'],
    ['without padding', 'L3ZvL2E', '/vo/a'],
    ['with a slash at the end', base64('/vo/'), '/vo'],
    ['empty', '', '/'],
  ])('accepts a directory %s', (_what, encoded, path) => {
    expect(decodeDirectoryPath(encoded)).toEqual({ path });
  });

  it.each([
    ['+ of plain base 64', 'L3Z+'],
    ['a slash', 'L3/v'],
    ['an impossible length', 'L3Zv4'],
    ['wrong padding', 'L3ZvL2E=='],
    ['bytes that are no UTF-8', base64(Buffer.from([0x2f, 0xff]))],
    ['no slash at the beginning', base64('vo')],
    ['//', base64('/vo//a')],
    ['two slashes at the end', base64('/vo//')],
    ['a . segment', base64('/vo/./a')],
    ['a .. segment', base64('/vo/../a')],
    ['NUL', base64('/vo/\0')],
    ['a name of 256 bytes', base64(`/${'é'.repeat(128)}`)],
    ['101 levels', base64('/a'.repeat(101))],
    ['more than 4096 bytes', base64(`/${'n'.repeat(200)}`.repeat(21))],
  ])('refuses %s', (_what, encoded) => {
    expect(decodeDirectoryPath(encoded)).toEqual({ fault: expect.any(String) });
    expect(decodeFilePath(encoded)).toEqual({ fault: expect.any(String) });
  });

  it.each(['/', '/vo/', ''])('takes %j for no file', (path) => {
    expect(decodeFilePath(base64(path))).toEqual({ fault: expect.any(String) });
  });

  it('says what is wrong', () => {
    expect(pathFault('/a/../b')).toBe('has a .. segment');
    expect(pathFault('/a/\ud800')).toBe('is not valid Unicode');
  });
});

describe('path arithmetic', () => {
  it('knows parents, names and chains', () => {
    expect(parentPath('/vo/a')).toBe('/vo');
    expect(parentPath('/vo')).toBe('/');
    expect(parentPath('/')).toBe('/');
    expect(baseName('/vo/a')).toBe('a');
    expect(joinPath('/', 'vo')).toBe('/vo');
    expect(joinPath('/vo', 'a')).toBe('/vo/a');
    expect(pathChain('/')).toEqual(['/']);
    expect(pathChain('/vo/a/b')).toEqual(['/', '/vo', '/vo/a', '/vo/a/b']);
    expect(namesBelow('/', '/vo/a')).toEqual(['vo', 'a']);
    expect(namesBelow('/vo', '/vo')).toEqual([]);
    expect(namesBelow('/vo', '/vo/a/b')).toEqual(['a', 'b']);
  });
});

describe('two slashes', () => {
  it('are no other name of the root', () => {
    const fault = 'decodes to a path that has an empty name (// or / at the end)';
    expect(decodeDirectoryPath(encodePath('//'))).toEqual({ fault });
    expect(decodeDirectoryPath(encodePath('/'))).toEqual({ path: '/' });
  });
});
