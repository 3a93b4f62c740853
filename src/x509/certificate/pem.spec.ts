import { describe, expect, it } from '@jest/globals';
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
  ])('is done with a million characters of %s at once', (_what, piece) => {
    const text = `${piece.repeat(1_000_000 / piece.length)}-----END B-----`;
    const from = process.cpuUsage();
    expect(decodePem(text)).toEqual([]);
    const { user } = process.cpuUsage(from);
    expect(user).toBeLessThan(1_000_000); // microseconds; searching anew from each takes minutes
  });
});
