import { generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { SigningKey } from './signing-key.js';
import { signJwt } from './sign-jwt.js';

const CLAIMS = { iss: 'https://grid.example.org', sub: 'älice', exp: 4_000_000_000 };

function keyOf(algorithm: SigningKey['algorithm']): SigningKey {
  const pair = {
    ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    EdDSA: () => generateKeyPairSync('ed25519'),
    RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  }[algorithm]();
  const rest = { createdAt: new Date(0), activeFrom: undefined, longestTtlSeconds: 60 };
  return { ...pair, ...rest, kid: 'k1', algorithm, publicJwk: {} };
}

describe('signJwt', () => {
  it.each(['ES256', 'EdDSA', 'RS256'] as const)(
    'makes %s tokens that jose accepts',
    async (algorithm) => {
      const key = keyOf(algorithm);
      const verified = await jwtVerify(await signJwt(CLAIMS, key, 'at+jwt'), key.publicKey);
      expect(verified.protectedHeader).toEqual({ alg: algorithm, typ: 'at+jwt', kid: 'k1' });
      expect(verified.payload).toEqual(CLAIMS);
    },
  );

  it('makes tokens that another key refuses', async () => {
    const token = await signJwt(CLAIMS, keyOf('ES256'), 'at+jwt');
    await expect(jwtVerify(token, keyOf('ES256').publicKey)).rejects.toMatchObject({
      code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    });
  });
});
