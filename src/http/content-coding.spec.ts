import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { growth, LINEAR } from '../../test/support/growth.js';
import { codingFor, type Coding } from './content-coding.js';

const chosen = (header: string | undefined, offered: Coding[] = ['br', 'gzip']): string =>
  codingFor({ headers: { 'accept-encoding': header } } as unknown as IncomingMessage, offered) ??
  'as it is';

describe('the coding of an answer', () => {
  it.each([
    [undefined, 'as it is'],
    ['', 'as it is'],
    ['gzip', 'gzip'],
    ['GZip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0', 'as it is'],
    ['gzip;q=0.0, br;q=0', 'as it is'],
    ['identity', 'as it is'],
    ['identity, gzip;q=0.5', 'as it is'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity;q=0', 'as it is'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0', 'as it is'],
    ['br;q=0, *', 'gzip'],
    ['gzip;q=0, br;q=0, *', 'as it is'],
    ['zstd, compress, x-unknown', 'as it is'],
    ['gzip;q=nonsense', 'as it is'],
    [';;;,,,', 'as it is'],
    [',gzip,', 'gzip'],
  ])('for %p is %s', (header, expected) => {
    expect(chosen(header)).toBe(expected);
  });

  it('is one of those offered', () => {
    expect(chosen('br', ['gzip'])).toBe('as it is');
    expect(chosen('*', ['gzip'])).toBe('gzip');
    expect(chosen('br, gzip;q=0.1', ['gzip'])).toBe('gzip');
  });

  it.each(['gzip;q=0.1,', 'a;', ',', '*', 'gzip ', '"'])(
    'is found in linear time in a long header of %j',
    (part) => {
      const headerOf = (size: number): string => part.repeat(Math.floor(size / part.length));
      expect(growth(headerOf, 200, chosen)).toBeLessThan(LINEAR);
    },
  );
});
