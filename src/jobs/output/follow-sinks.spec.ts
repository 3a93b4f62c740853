import { outputData, wholeCharacters } from './follow-sinks.js';

describe('wholeCharacters', () => {
  const text = Buffer.from('aé€😀');

  it.each([
    [0, 0],
    [1, 1],
    [2, 1],
    [3, 3],
    [4, 3],
    [5, 3],
    [6, 6],
    [7, 6],
    [8, 6],
    [9, 6],
    [10, 10],
  ])('of %d bytes %d are whole characters', (bytes, whole) => {
    expect(wholeCharacters(text.subarray(0, bytes))).toBe(whole);
  });

  it('lets pass what is no UTF-8, so that nothing waits for ever', () => {
    expect(wholeCharacters(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
    expect(wholeCharacters(Buffer.from([0x61, 0x80, 0x80]))).toBe(3);
    expect(wholeCharacters(Buffer.from([0xff]))).toBe(0); // one that may begin: its rest decides
    expect(wholeCharacters(Buffer.from([0xff, 0x61]))).toBe(2);
  });
});

describe('outputData', () => {
  it('has the bytes beside the text where they are no UTF-8', () => {
    expect(outputData(Buffer.from('aé\ufffd'))).toEqual({ text: 'aé\ufffd' });
    expect(outputData(Buffer.from([0x61, 0xe9, 0x0a]))).toEqual({
      text: 'a\ufffd\n',
      base64: Buffer.from([0x61, 0xe9, 0x0a]).toString('base64'),
    });
  });
});
