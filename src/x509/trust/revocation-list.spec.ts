import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { X509CertificateGenerator, X509CrlGenerator } from '@peculiar/x509';
import { Slices } from '#src/kernel/index.js';
import { chainLink, type ChainLink } from '../certificate/chain-link.js';
import { readRevocationList } from './revocation-list.js';

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
type Algorithm = webcrypto.RsaHashedKeyGenParams | webcrypto.EcKeyGenParams;
const ALGORITHMS: [string, object][] = [
  ...['SHA-256', 'SHA-384', 'SHA-512'].map((hash): [string, object] => [
    `RSA with ${hash}`,
    { name: 'RSASSA-PKCS1-v1_5', hash, ...RSA },
  ]),
  ...['SHA-256', 'SHA-512'].map((hash): [string, object] => [
    `RSA-PSS with ${hash}`,
    { name: 'RSA-PSS', hash, saltLength: 32, ...RSA },
  ]),
  ['ECDSA with SHA-256', { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' }],
  ['ECDSA with SHA-384', { name: 'ECDSA', hash: 'SHA-384', namedCurve: 'P-384' }],
  ['Ed25519', { name: 'Ed25519' }],
];

interface Signed {
  list: Buffer;
  ca: ChainLink;
}

async function signedBy(algorithm: object): Promise<Signed> {
  const keys = await webcrypto.subtle.generateKey(algorithm as Algorithm, true, ['sign', 'verify']);
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
      const another = (await signedBy(given)).ca;
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
