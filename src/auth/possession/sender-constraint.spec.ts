import type { HttpRequest } from '#src/http/index.js';
import type { DpopRequests } from './dpop-requests.js';
import { SenderConstraint } from './sender-constraint.js';
import type { PeerCertificates } from './peer-certificates.js';

interface Shown {
  certificate?: string;
  key?: string;
}

/** What a request with this certificate and this DPoP key proves. */
function proves(claim: unknown, { certificate, key }: Shown): Promise<boolean> {
  const constraint = new SenderConstraint(
    { thumbprintOf: () => Promise.resolve(key) } as unknown as DpopRequests,
    { thumbprintOf: () => certificate } as unknown as PeerCertificates,
  );
  return constraint.proves(claim, {} as HttpRequest);
}

describe('a token with a confirmation claim is proved', () => {
  it.each<[string, unknown, Shown, boolean]>([
    ['none', undefined, {}, true],
    ['none, and a certificate', undefined, { certificate: 'thumb' }, true],
    ['of the certificate', { 'x5t#S256': 'thumb' }, { certificate: 'thumb' }, true],
    ['of another certificate', { 'x5t#S256': 'other' }, { certificate: 'thumb' }, false],
    ['of a certificate, and none is shown', { 'x5t#S256': 'thumb' }, { key: 'thumb' }, false],
    ['of no value, and no certificate', { 'x5t#S256': undefined }, {}, false],
    ['of the DPoP key', { jkt: 'key' }, { key: 'key' }, true],
    ['of another DPoP key', { jkt: 'key' }, { key: 'other', certificate: 'key' }, false],
    ['of a DPoP key, and none is shown', { jkt: 'key' }, { certificate: 'key' }, false],
    ['of both', { 'x5t#S256': 'a', jkt: 'b' }, { certificate: 'a', key: 'b' }, false],
    ['of something else', { kid: 'a' }, { certificate: 'a', key: 'a' }, false],
    ['null', null, { certificate: 'thumb' }, false],
    ['text', 'thumb', { certificate: 'thumb' }, false],
    ['a list', ['thumb'], { certificate: 'thumb' }, false],
  ])('%s', async (_what, claim, shown, expected) => {
    expect(await proves(claim, shown)).toBe(expected);
  });
});
