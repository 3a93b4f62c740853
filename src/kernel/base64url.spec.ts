import { describe, expect, it } from '@jest/globals';
import { decodeBase64UrlText, encodeBase64UrlText } from './base64url.js';

describe('decodeBase64UrlText', () => {
  it.each(['/vo/a', '/', '/é~>', '/日本', ''])('gives back %p', (text) => {
    expect(decodeBase64UrlText(encodeBase64UrlText(text))).toBe(text);
  });

  it.each([
    ['L3Zv', '/vo'],
    ['L3ZvLw', '/vo/'],
    ['L3ZvLw==', '/vo/'],
  ])('reads %s with and without padding', (encoded, text) => {
    expect(decodeBase64UrlText(encoded)).toBe(text);
  });

  it.each([
    ['a foreign alphabet', 'L3Zv+w'],
    ['a slash', 'L3Zv/w'],
    ['a blank', 'L3Zv w'],
    ['an impossible length', 'L3Zvx'],
    ['too much padding', 'L3ZvLw==='],
    ['too little padding', 'L3ZvLw='],
    ['padding in the middle', 'L3=ZvLw'],
    ['stray trailing bits', 'L3ZvLx'],
    ['bytes that are no UTF-8', '__79'],
  ])('refuses %s', (_what, encoded) => {
    expect(decodeBase64UrlText(encoded)).toBeUndefined();
  });
});
