import {
  applications,
  strict,
  profiles,
  openid,
  listener,
  certificateTokens,
  refresh,
  assertions,
  proofs,
  verifier,
  tls,
  hostile,
  forgery,
  signJwt,
  PLAIN,
  ASSERTION,
  assertion,
  proof,
  notRegistered,
  ours,
} from './fapi-tests.mjs';
import { of } from './shown.mjs';

const SUITES = listener(
  'a listener with a certificate of %s › takes of all suites of TLS 1.2 those that FAPI 2.0 §5.2.2 and RFC 9325 §4.2 name',
);

/** What FAPI 2.0 demands of the network. */
export const NETWORK = [
  {
    section: '5.2.1-1',
    text: 'Every endpoint is behind TLS, and so is what we open ourselves.',
    shown: [
      PLAIN,
      hostile(
        'against a hostile provider › metadata › with an endpoint in plain http are not used',
      ),
    ],
  },
  { section: '5.2.1-2', text: 'TLS 1.2 or later.', shown: [PLAIN] },
  {
    section: '5.2.1-3',
    text: 'TLS is set up as BCP 195 says: forward secrecy and authenticated encryption, nothing older.',
    shown: [
      SUITES,
      listener('a listener with a certificate of %s › takes keys of X25519, P-256 and P-384 only'),
    ],
  },
  {
    section: '5.2.1-5',
    text: 'Certificates of other servers are verified, with their names.',
    shown: [
      tls('requests by TLS › verify › trusts no unknown authority'),
      tls('requests by TLS › verify › checks the name of the host'),
    ],
  },
  {
    section: '5.2.2-1',
    text: 'With TLS 1.2 the four suites that BCP 195 recommends (`ECDHE-…-AES128-GCM-SHA256`, `…-AES256-GCM-SHA384`), and no other, at endpoints of programs.',
    shown: [SUITES],
  },
  {
    section: '5.2.3-1',
    text: 'Browsers are told to come by TLS only (HSTS), but at `localhost` and with the development CA.',
    shown: [
      of('src/http/request-middleware.spec.ts')('%s: Strict-Transport-Security', 'a public name'),
    ],
  },
  {
    section: '5.2.3-2',
    text: 'With TLS 1.2 only suites that BCP 195 allows, at endpoints of browsers: they are the same.',
    shown: [SUITES],
  },
  {
    section: '5.2.3-3',
    text: 'No CORS at the authorization endpoint, whatever origins are allowed elsewhere.',
    shown: [profiles('the authorization endpoint › has no part in CORS')],
  },
];

/** What FAPI 2.0 demands of resources. */
export const RESOURCES = [
  {
    section: '5.3.4-1',
    text: 'Access tokens are taken in the header, as `Bearer` or `DPoP`.',
    shown: [
      certificateTokens(
        '/oauth2/token with a certificate › the token on a request › may be sent as %s',
      ),
      strict('a token that is bound to a DPoP key › is good with a proof for each request'),
    ],
  },
  {
    section: '5.3.4-2',
    text: 'They are not taken in the query.',
    shown: [
      ours('shows its tokens in the header only, also with the certificate'),
      strict(
        'a token that is bound to a DPoP key › is worth nothing as bearer token on any route that takes a token',
      ),
    ],
  },
  {
    section: '5.3.4-3',
    text: 'Signature, end and revocation of a token are looked at.',
    shown: [
      certificateTokens(
        '/oauth2/token with a certificate › the token on a request › is refused when forged or confused',
      ),
      of('src/auth/bearer/access-token.spec.ts')(
        'a token that is shown › is good until it expires',
      ),
      refresh(
        'refresh, revocation and introspection › POST /oauth2/revoke › ends an access token at once',
      ),
      refresh(
        'refresh, revocation and introspection › two instances › make revocation and removal from a group effective on both within a second',
      ),
    ],
  },
  {
    section: '5.3.4-4',
    text: 'A token that does not allow what is asked is refused as RFC 6750 §3.1 says.',
    shown: [
      certificateTokens(
        '/oauth2/token with a certificate › the token on a request › needs the scope of the route',
      ),
      certificateTokens(
        '/oauth2/token with a certificate › the token on a request › is asked for with WWW-Authenticate (RFC 6750)',
      ),
    ],
  },
  {
    section: '5.3.4-5',
    text: 'A bound token is taken from its holder only, on every route.',
    shown: [
      strict(
        'a token that is bound to a DPoP key › is worth nothing as bearer token on any route that takes a token',
      ),
      applications(
        'applications with a certificate › prove themselves by the DN, and their tokens are bound to the certificate',
      ),
      proofs('a bound token › that is bound to a certificate needs a connection with it'),
    ],
  },
];

/** What FAPI 2.0 demands of keys and secrets. */
export const SECRETS = [
  {
    section: '5.4.1-1',
    text: 'JWTs keep to RFC 8725, are signed by PS256, ES256 or EdDSA (Ed25519), and never by `none`.',
    shown: [
      signJwt('signJwt › makes %s tokens that jose accepts', 'ES256'),
      assertion('by PS256'),
      assertion('by EdDSA'),
      assertion('by RS256'),
      assertion('by a secret'),
      proofs('a DPoP proof › may be by PS256 and EdDSA, and not by RS256'),
      proof('by a shared secret'),
      proof('of another type'),
      certificateTokens(
        '/oauth2/token with a certificate › the token on a request › is refused when forged or confused',
      ),
      forgery('against a forger › keys and tokens › accepts a good token and only that'),
    ],
  },
  {
    section: '5.4.1-2',
    text: 'RSA keys have 2048 bits at least.',
    shown: [
      notRegistered('a short key'),
      proofs('a DPoP proof › may not be by an RSA key of less than 2048 bits'),
      verifier(
        'verifyToken with given keys › refuses RSA keys below 2048 bit and algorithms the provider does not allow',
      ),
    ],
  },
  {
    section: '5.4.1-3',
    text: 'Keys of elliptic curves have 224 bits at least.',
    shown: [
      notRegistered('another curve'),
      signJwt('signJwt › makes %s tokens that jose accepts', 'ES256'),
    ],
  },
  {
    section: '5.4.1-4',
    text: 'Tokens, codes and request addresses have 128 bits of chance at least.',
    shown: [profiles('what programs hold › has 128 bits of chance and more')],
  },
  {
    section: '5.4.2-1',
    text: '`jwks_uri` is served over TLS only.',
    shown: [
      openid(
        'OpenID Connect › GET /.well-known/openid-configuration › says the same as the document of RFC 8414',
      ),
      PLAIN,
    ],
  },
  {
    section: '5.4.3',
    text: 'Of several keys with one `kid` the one is taken that fits by its other members.',
    shown: [
      assertions(`${ASSERTION} › finds its key by its kind among several with one key id`),
      verifier('verifyToken with given keys › %s', 'one of two keys with the kid'),
    ],
  },
];
