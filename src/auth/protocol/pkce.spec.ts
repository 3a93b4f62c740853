import { createHash } from 'node:crypto';
import { isChallenge, matchesChallenge } from './pkce.js';

// The example of RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

describe('PKCE', () => {
  it('knows verifier and challenge of RFC 7636', () => {
    expect(isChallenge(CHALLENGE)).toBe(true);
    expect(matchesChallenge(VERIFIER, CHALLENGE)).toBe(true);
  });

  it.each([CHALLENGE, `${VERIFIER}a`])(
    'refuses the well-formed verifier %s of another',
    (verifier) => expect(matchesChallenge(verifier, CHALLENGE)).toBe(false),
  );

  it.each(['a'.repeat(43), 'a'.repeat(128), `${'a'.repeat(40)}.~-`])(
    'accepts the verifier %s for its challenge',
    (verifier) => expect(matchesChallenge(verifier, challengeOf(verifier))).toBe(true),
  );

  it.each(['', 'a'.repeat(42), 'a'.repeat(129), `${VERIFIER}=`, `=${VERIFIER}`, 'ä'.repeat(43)])(
    'refuses the malformed verifier %s even for its challenge',
    (verifier) => expect(matchesChallenge(verifier, challengeOf(verifier))).toBe(false),
  );

  it.each(['', 'short', `${CHALLENGE}=`, `=${CHALLENGE}`, `${CHALLENGE.slice(1)}+`])(
    'refuses the challenge %s',
    (challenge) => expect(isChallenge(challenge)).toBe(false),
  );
});
