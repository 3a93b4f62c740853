import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '#src/kernel/index.js';
import { PlainFiles } from './plain-file.js';

function read(...lines: JsonValue[]): unknown {
  const files = new PlainFiles();
  return lines.map((line) => files.read(line)).at(-1);
}

const PLAIN = { kind: 'file', path: '/vo/a/f1', size: 10 };

describe('a line that only registers a file', () => {
  it('is read as it is', () => {
    expect(read({ ...PLAIN, op: 'put', checksum: 'ad8b1f02', guid: 'a-b' })).toEqual({
      ...{ kind: 'file', op: 'put', path: '/vo/a/f1', size: 10 },
      ...{ checksum: 'ad8b1f02', checksumType: 'Adler32', guid: 'a-b', replicas: new Map() },
    });
  });

  it.each([
    '/f1',
    '/vo/a/f2',
    '/vo/é',
    '/vo/a/.f',
    '/vo/a/...',
    '/vo/a/🗎',
    `/vo/a/${'x'.repeat(255)}`,
  ])('may have the path %s, whatever came before', (path) => {
    const expected = expect.objectContaining({ path });
    expect(read({ ...PLAIN, path })).toEqual(expected);
    expect(read(PLAIN, { ...PLAIN, path })).toEqual(expected);
  });

  it.each([
    '/',
    'vo/a/f1',
    '/vo/a/',
    '/vo/a/.',
    '/vo/a/..',
    '/vo//f1',
    '/vo/a/\0',
    '/vo/a/\ud800',
    '/vo/../f1',
    `/vo/a/${'x'.repeat(256)}`,
    `/vo/a/${'é'.repeat(128)}`,
    '/a'.repeat(101),
  ])('is left to the reader of all lines with the path %j', (path) => {
    expect(read({ ...PLAIN, path })).toBeUndefined();
    expect(read(PLAIN, { ...PLAIN, path })).toBeUndefined();
  });

  it.each([
    ['no object', 7],
    ['null', null],
    ['a list', [PLAIN]],
    ['without kind', { path: '/f', size: 1 }],
    ['of a directory', { ...PLAIN, kind: 'directory' }],
    ['that deletes', { ...PLAIN, op: 'delete' }],
    ['without size', { kind: 'file', path: '/f' }],
    ['with a bad size', { ...PLAIN, size: -1 }],
    ['with a bad checksum', { ...PLAIN, checksum: 'a b' }],
    ['with a checksum that is no text', { ...PLAIN, checksum: 7 }],
    ['with an empty GUID', { ...PLAIN, guid: '' }],
    ['with a null', { ...PLAIN, guid: null }],
    ['with metadata', { ...PLAIN, metadata: {} }],
    ['with replicas', { ...PLAIN, replicas: [] }],
    ['with a mode', { ...PLAIN, mode: 448 }],
    ['with an owner', { ...PLAIN, owner: 'alice' }],
    ['with an unknown member', { ...PLAIN, what: 1 }],
  ] as [string, JsonValue][])('is left to it as well when it is one %s', (_what, line) => {
    expect(read(line)).toBeUndefined();
  });
});
