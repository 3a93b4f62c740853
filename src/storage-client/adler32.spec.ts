import { Adler32 } from './adler32.js';

describe('Adler-32', () => {
  it.each([
    ['', '00000001'],
    ['a', '00620062'],
    ['Wikipedia', '11e60398'],
    ['\u00ff'.repeat(100_000), undefined],
  ])('of %#', (text, expected) => {
    const [whole, parts, halves] = [new Adler32(), new Adler32(), new Adler32()];
    const bytes = Buffer.from(text, 'latin1');
    whole.update(bytes);
    for (const byte of bytes) parts.update(Uint8Array.of(byte));
    const middle = Math.floor(bytes.length * 0.7);
    for (const half of [bytes.subarray(0, middle), bytes.subarray(middle)]) halves.update(half);
    expect(halves.hex).toBe(parts.hex);
    expect(whole.hex).toBe(expected ?? parts.hex);
    expect(parts.hex).toBe(whole.hex);
  });
});
