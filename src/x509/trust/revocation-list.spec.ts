import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { X509CertificateGenerator, X509CrlGenerator } from '@peculiar/x509';
import { Slices } from '#src/kernel/index.js';
import { rsaKey } from '../../../test/support/rsa-keys.js';
import { chainLink, type ChainLink } from '../certificate/chain-link.js';
import { readRevocationList } from './revocation-list.js';

type Algorithm = webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams;
/** Two are enough: they take long to make. */
const RSA_KEYS = [0, 1].map((which) => rsaKey(2048, which));
const ALGORITHMS: [string, object][] = [
  ...['SHA-256', 'SHA-384', 'SHA-512'].map((hash): [string, object] => [
    `RSA with ${hash}`,
    { name: 'RSASSA-PKCS1-v1_5', hash },
  ]),
  ...['SHA-256', 'SHA-512'].map((hash): [string, object] => [
    `RSA-PSS with ${hash}`,
    { name: 'RSA-PSS', hash, saltLength: 32 },
  ]),
  ['ECDSA with SHA-256', { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' }],
  ['ECDSA with SHA-384', { name: 'ECDSA', hash: 'SHA-384', namedCurve: 'P-384' }],
  ['Ed25519', { name: 'Ed25519' }],
];

interface Signed {
  list: Buffer;
  ca: ChainLink;
}

async function keysFor(algorithm: Algorithm, which: number): Promise<webcrypto.CryptoKeyPair> {
  const rsa = RSA_KEYS[which];
  if (!rsa || !algorithm.name.startsWith('RSA')) {
    return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  }
  const spki = rsa.publicKey.export({ type: 'spki', format: 'der' });
  const pkcs8 = rsa.privateKey.export({ type: 'pkcs8', format: 'der' });
  return {
    publicKey: await webcrypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
    privateKey: await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, true, ['sign']),
  };
}

async function signedBy(algorithm: object, which = 0): Promise<Signed> {
  const keys = await keysFor(algorithm as Algorithm, which);
  const signingAlgorithm = algorithm as webcrypto.EcdsaParams;
  const name = 'DC=org, DC=grid, CN=CA';
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    signingAlgorithm,
  });
  const list = await X509CrlGenerator.create({
    issuer: name,
    signingKey: keys.privateKey,
    signingAlgorithm,
    entries: [{ serialNumber: '0102' }],
  });
  return { list: Buffer.from(list.rawData), ca: chainLink(Buffer.from(certificate.rawData)) };
}

describe('a revocation list', () => {
  it.each(ALGORITHMS)(
    'signed by %s counts for its CA only, and unchanged',
    async (_name, given) => {
      const { list, ca } = await signedBy(given);
      const another = (await signedBy(given, 1)).ca;
      const changed = Buffer.from(list);
      const at = changed.indexOf(Buffer.from('0102', 'hex'));
      changed[at + 1] = 3;
      const verdicts = async (bytes: Buffer, issuer: ChainLink): Promise<boolean[]> => {
        const [asked, checked] = [await readRevocationList(bytes), await readRevocationList(bytes)];
        await checked.check(issuer, new Slices());
        return [asked.isSignedBy(issuer), checked.isSignedBy(issuer)];
      };
      expect((await readRevocationList(list)).revoked.has('0102')).toBe(true);
      expect(await verdicts(list, ca)).toEqual([true, true]);
      expect(await verdicts(list, another)).toEqual([false, false]);
      expect(await verdicts(changed, ca)).toEqual([false, false]);
    },
  );
});
