import { describe, expect, it } from '@jest/globals';
import { EncodingError, utf8Text } from './utf8-text.js';

describe('utf8Text', () => {
  it('reads UTF-8, and leaves a byte order mark at the start out', () => {
    expect(utf8Text(Buffer.from('\ufeffné\n\ufeff'))).toBe('né\n\ufeff');
    expect(utf8Text(Buffer.alloc(0))).toBe('');
  });

  it.each([
    ['Latin-1', Buffer.from('one\n\nRené\n', 'latin1'), 3],
    ['a character that is cut off', Buffer.from('one\né').subarray(0, -1), 2],
    ['UTF-16', Buffer.from('\ufeffone\ntwo', 'utf16le'), 1],
    ['half of a surrogate pair', Buffer.from([0x0a, 0xed, 0xa0, 0x80]), 2],
  ])('refuses %s with the line', (_what, bytes, line) => {
    const error = new EncodingError(line);
    expect(() => utf8Text(bytes)).toThrow(error);
    expect(error.message).toBe(
      `line ${line} is not UTF-8; save the file in this encoding (of Latin-1, iconv -f LATIN1 -t UTF-8 makes it)`,
    );
  });

  it('counts from the line that the bytes begin with', () => {
    expect(() => utf8Text(Buffer.from([0xe9]), 7)).toThrow(new EncodingError(7));
  });
});
