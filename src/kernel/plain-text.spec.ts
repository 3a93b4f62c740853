import { describe, expect, it } from '@jest/globals';
import { isPlainText } from './plain-text.js';

describe('text of one line', () => {
  it.each(['Mine', 'Ünïcode 字', 'a family 👩‍👧', 'العربية', ' '])('%j is plain', (text) => {
    expect(isPlainText(text)).toBe(true);
  });

  it.each([
    'two\nlines',
    'tab\t',
    'nul\0',
    'a\u202eb',
    'a\u200bb',
    '\ufeffa',
    'a\u2066b',
    'a\u2028b',
  ])('%j is not', (text) => {
    expect(isPlainText(text)).toBe(false);
  });
});
