import {
  applications,
  strict,
  profiles,
  auth,
  openid,
  signIn,
  logout,
  certificateTokens,
  identityProvider,
  proofs,
  PUSHED,
  ONLY_WAY,
  BY_DPOP,
  BY_TLS,
  notPushed,
  assertion,
  proof,
  isGot,
  notRegistered,
  ours,
} from './fapi-tests.mjs';
import { of } from './shown.mjs';
import { NETWORK, RESOURCES, SECRETS } from './fapi-resources.mjs';

const GENERAL = [
  {
    section: '5.3.2.1-1',
    text: 'Metadata are published as OpenID Connect Discovery and RFC 8414 say.',
    shown: [
      openid(
        'OpenID Connect › GET /.well-known/openid-configuration › says the same as the document of RFC 8414',
      ),
      BY_DPOP,
    ],
  },
  {
    section: '5.3.2.1-2',
    text: 'The grant by user name and password is refused.',
    shown: [
      ours('is given nothing for a user name and a password'),
      certificateTokens(
        '/oauth2/token with a certificate › refuses %j with %i %s',
        "{ grant_type: 'password' }",
      ),
    ],
  },
  {
    section: '5.3.2.1-3',
    text: 'Applications are confidential.',
    shown: [notRegistered('a public one with fapi2'), notRegistered('fapi2 and a secret')],
  },
  {
    section: '5.3.2.1-4',
    text: 'Access tokens are bound to their holder, and are given in no other way.',
    shown: [isGot('fapi2 with neither'), PUSHED],
  },
  {
    section: '5.3.2.1-5',
    text: 'They are bound by certificate (RFC 8705) or by DPoP (RFC 9449).',
    shown: [isGot('fapi2 with a proof'), isGot('fapi2 with a certificate'), BY_DPOP, BY_TLS],
  },
  {
    section: '5.3.2.1-6',
    text: 'Applications prove themselves by mTLS or `private_key_jwt`.',
    shown: [
      BY_DPOP,
      BY_TLS,
      applications('private_key_jwt › is refused %s', 'beside the secret of nobody'),
      applications(
        'applications with a certificate › are refused with another certificate, or none',
      ),
    ],
  },
  {
    section: '5.3.2.1-7',
    text: 'Nothing here leads a browser to an address that is not registered.',
    shown: [
      auth('GET /oauth2/auth › never redirects with %s', 'another host'),
      notPushed('with a foreign redirect URI'),
      signIn(
        'what an authorization request wants of the sign-in › prompt=login › leads back to own pages only',
      ),
      identityProvider('an external identity provider › goes back to own pages only'),
      logout(
        'GET and POST /oauth2/logout › leads nowhere when ID token and client_id differ, although both are good',
      ),
    ],
  },
  {
    section: '5.3.2.1-8',
    text: '`aud` of an assertion is the issuer as a text, and nothing else.',
    shown: [
      assertion('for the issuer'),
      assertion('for the issuer in a list'),
      assertion('for the token endpoint'),
      applications('private_key_jwt › is refused %s', 'with a list as audience, with fapi2'),
    ],
  },
  {
    section: '5.3.2.1-9',
    text: 'Refresh tokens do not rotate.',
    shown: [PUSHED],
  },
  {
    section: '5.3.2.1-11',
    text: 'A code lives 60 seconds at most.',
    shown: [ours('has a code for 60 seconds, whatever GRID_CODE_TTL says')],
  },
  {
    section: '5.3.2.1-12',
    text: 'With DPoP a code can be bound to the key (RFC 9449 §10.1).',
    shown: [
      strict('POST /oauth2/par › binds the code to the key of its proof'),
      notPushed('with a key that is none'),
    ],
  },
  {
    section: '5.3.2.1-13',
    text: 'JWTs with `iat` or `nbf` up to 10 seconds ahead are taken, more than 60 seconds ahead refused.',
    shown: [
      assertion('from a clock that is ahead'),
      assertion('made in the future'),
      assertion('good in the future'),
      proofs('a DPoP proof › may be of a clock that is ten seconds ahead'),
      proof('from the future'),
      proof('good in the future'),
    ],
  },
];

const AUTHORIZATION = [
  {
    section: '5.3.2.2-1',
    text: '`response_type` is `code`.',
    shown: [notPushed('with another response type'), PUSHED],
  },
  {
    section: '5.3.2.2-2',
    text: 'Requests can be pushed by an application that proves itself (RFC 9126).',
    shown: [PUSHED, strict('POST /oauth2/par › is of one application, and ends')],
  },
  {
    section: '5.3.2.2-3',
    text: 'A request that was not pushed is refused.',
    shown: [ONLY_WAY],
  },
  {
    section: '5.3.2.2-4',
    text: 'A pushed request without proof of the application is refused.',
    shown: [strict('POST /oauth2/par › is refused to who does not prove to be the application')],
  },
  {
    section: '5.3.2.2-5',
    text: 'PKCE with S256 is demanded.',
    shown: [notPushed('without challenge'), notPushed('with a plain challenge')],
  },
  {
    section: '5.3.2.2-6',
    text: 'A pushed request has a `redirect_uri`.',
    shown: [notPushed('without redirect URI')],
  },
  {
    section: '5.3.2.2-7',
    text: 'Every answer to the browser has `iss` (RFC 9207).',
    shown: [
      PUSHED,
      ONLY_WAY,
      openid('OpenID Connect › names the issuer in every answer (RFC 9207)'),
    ],
  },
  {
    section: '5.3.2.2-8',
    text: 'Redirect URIs are https; this service makes no exception for loopback with `fapi2`.',
    shown: [notRegistered('fapi2 and a plain address')],
  },
  {
    section: '5.3.2.2-9',
    text: 'A code that has been used is refused.',
    shown: [
      ours('has a code once'),
      of('test/api/flow-b-web-portal.api-spec.ts')(
        'Flow B: a web portal acts for a user › lets exactly one of parallel exchanges win',
      ),
    ],
  },
  {
    section: '5.3.2.2-10',
    text: 'No redirect with status 307: a form of a user is never sent on.',
    shown: [
      profiles(
        'the authorization endpoint › answers a form with 303, which leaves the form behind',
      ),
    ],
  },
  {
    section: '5.3.2.2-12',
    text: 'A `request_uri` lives less than 600 seconds.',
    shown: [PUSHED, strict('POST /oauth2/par › is of one application, and ends')],
  },
  {
    section: '5.3.2.2-14',
    text: 'A `nonce` may have 64 characters.',
    shown: [ours('has its nonce of 64 characters back')],
  },
  {
    section: '5.3.2.3',
    text: 'Who the user is, is told by OpenID Connect.',
    shown: [ours('has its nonce of 64 characters back')],
  },
];

/** FAPI 2.0 Security Profile, final (22 February 2025). */
export const FAPI = {
  name: 'FAPI 2.0 Security Profile',
  address: 'https://openid.net/specs/fapi-security-profile-2_0.html',
  about: [
    'What the profile demands of authorization servers and of resources holds for applications that are registered with `--profile fapi2`',
    '([how](how-to/register-an-application.md)); others go on as they are. The number after the section is that of the clause. Clauses of',
    'clients, and those that only recommend or permit, are left out. Where `GRID_TLS=off` leaves TLS to a load balancer, 5.2 binds that one',
    '(the [shipped settings](deployment.md) do as the service does).',
  ],
  requirements: [...NETWORK, ...GENERAL, ...AUTHORIZATION, ...RESOURCES, ...SECRETS],
};
