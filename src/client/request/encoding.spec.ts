import { describe, expect, it } from '@jest/globals';
import { base64Url, decodePath, encodePath } from './encoding.js';
import { pathPart, queryText } from './operation-request.js';

describe('paths of the catalogue', () => {
  it.each([
    ['/', 'Lw'],
    ['/vo/a', 'L3ZvL2E'],
    ['/vo/ä~>', 'L3ZvL8Okfj4'],
  ])('%s is %s', (path, encoded) => {
    expect(encodePath(path)).toBe(encoded);
    expect(decodePath(encoded)).toBe(path);
    expect(decodePath(`${encoded}=`)).toBe(path);
  });

  it('use the URL-safe alphabet without padding', () => {
    expect(base64Url(new Uint8Array([0xfb, 0xff, 0xfe]))).toBe('-__-');
  });

  it('refuse bytes that are no text', () => {
    expect(() => decodePath('_w')).toThrow();
  });
});

describe('queries', () => {
  it('repeat the key of a list, leave out what is not given, and spell conditions as keys', () => {
    const query = { maxJobs: 2, status: ['Done', 'Failed'], sort: undefined, allOwners: false };
    expect(queryText(query)).toBe('?maxJobs=2&status=Done&status=Failed&allOwners=false');
    expect(queryText({ conditions: { run: ['>=|1', '<=|2'], particle: 'in|e' } })).toBe(
      '?run=%3E%3D%7C1&run=%3C%3D%7C2&particle=in%7Ce',
    );
    expect(queryText({})).toBe('');
  });

  it('keep the folders of a file name in a path', () => {
    expect(pathPart('logs/a b?.txt')).toBe('logs/a%20b%3F.txt');
    expect(pathPart(12)).toBe('12');
  });
});
