import { makeUserCode, readUserCode, showUserCode } from './user-code.js';

describe('codes that people type', () => {
  it('are eight consonants, each of the twenty in turn', () => {
    const codes = Array.from({ length: 200 }, makeUserCode);
    for (const code of codes) expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
    expect(new Set(codes).size).toBe(codes.length);
    expect([...new Set(codes.join(''))].sort().join('')).toBe('BCDFGHJKLMNPQRSTVWXZ');
  });

  it('are shown in two halves and read back', () => {
    expect(showUserCode('BCDFGHJK')).toBe('BCDF-GHJK');
    expect(readUserCode('BCDF-GHJK')).toBe('BCDFGHJK');
    expect(readUserCode(' bcdf  ghjk-\n')).toBe('BCDFGHJK');
    expect(readUserCode("B1Ä'C")).toBe('BC');
  });
});
