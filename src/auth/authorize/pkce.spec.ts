import { isChallenge, matchesChallenge } from './pkce.js';

// The example of RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

describe('PKCE', () => {
  it('knows verifier and challenge of RFC 7636', () => {
    expect(isChallenge(CHALLENGE)).toBe(true);
    expect(matchesChallenge(VERIFIER, CHALLENGE)).toBe(true);
  });

  it.each([[CHALLENGE], [VERIFIER.slice(1)], [`${VERIFIER}=`], ['a'.repeat(129)], ['']])(
    'refuses the verifier %s',
    (verifier) => expect(matchesChallenge(verifier, CHALLENGE)).toBe(false),
  );

  it.each(['', 'short', `${CHALLENGE}=`, `${CHALLENGE.slice(1)}+`])(
    'refuses the challenge %s',
    (challenge) => expect(isChallenge(challenge)).toBe(false),
  );
});
