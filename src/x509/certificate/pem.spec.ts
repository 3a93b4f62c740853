import { describe, expect, it } from '@jest/globals';
import { growth, LINEAR } from '../../../test/support/growth.js';
import { decodePem, encodePem } from './pem.js';

const ONE = encodePem('CERTIFICATE', Buffer.alloc(100, 1));
const TWO = encodePem('X509 CRL', Buffer.from('two'));

describe('decodePem', () => {
  it('reads all blocks, whatever stands between them and however lines end', () => {
    const text = `subject=/CN=x\n${ONE}\n# text\n${TWO.replaceAll('\n', '\r\n')}`;
    expect(decodePem(text)).toEqual([
      { label: 'CERTIFICATE', der: Buffer.alloc(100, 1) },
      { label: 'X509 CRL', der: Buffer.from('two') },
    ]);
  });

  it.each([
    ['that is cut off', ONE.slice(0, 60)],
    ['that another one begins in', `${ONE.slice(0, 60)}\n`],
    ['whose end has another label', ONE.replace('END CERTIFICATE', 'END X')],
    ['whose label is none', ONE.replaceAll('CERTIFICATE', 'cert/1')],
  ])('leaves out a block %s, and reads the next', (_what, broken) => {
    expect(decodePem(broken)).toEqual([]);
    expect(decodePem(`${broken}${TWO}`)).toEqual([{ label: 'X509 CRL', der: Buffer.from('two') }]);
  });

  it.each([
    ['beginnings', '-----BEGIN A-----'],
    ['ends', '-----END A-----'],
    ['blocks that begin in each other', '-----BEGIN A-----BEGIN A-----'],
  ])('is done in linear time with very many %s', (_what, piece) => {
    const textOf = (size: number): string => `${piece.repeat(size)}-----END B-----`;
    expect(decodePem(textOf(1_000))).toEqual([]);
    expect(growth(textOf, 20, decodePem)).toBeLessThan(LINEAR);
  });
});
