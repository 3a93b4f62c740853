import { of } from './shown.mjs';

const accessToken = of('src/auth/bearer/access-token.spec.ts');
const grantee = of('src/auth/bearer/external-grantee.spec.ts');
const gridScopes = of('src/auth/protocol/grid-scopes.spec.ts');
const pathRights = of('src/auth/protocol/path-rights.spec.ts');
const scopePath = of('src/auth/protocol/scope-path.spec.ts');
const verifier = of('src/id-provider/verify/token-verifier.spec.ts');
const registry = of('test/api/registry.api-spec.ts');
const registryFile = of('src/registry/file/registry-file.spec.ts');
const certificateTokens = of('test/api/oauth2-token.api-spec.ts');
const openid = of('test/api/openid-connect.api-spec.ts');
const signIn = of('test/api/openid-sign-in.api-spec.ts');
const scopes = of('test/api/token-scopes.api-spec.ts');
const exchange = of('test/api/token-exchange.api-spec.ts');
const narrowing = of('src/auth/token/grants/token-narrowing.spec.ts');
const refresh = of('test/api/oauth2-refresh.api-spec.ts');
const border = of('test/api/vo-border.api-spec.ts');
const foreign = of('test/api/foreign-tokens.api-spec.ts');
const profiles = of('test/api/token-profiles.api-spec.ts');
const flowB = of('test/api/flow-b-web-portal.api-spec.ts');
const faults = of('test/api/other-systems-faults.api-spec.ts');
const tls = of('test/client/http-tls.client-spec.ts');
const hostile = of('test/client/id-provider-hostile.client-spec.ts');
const rotation = of('test/api/key-rotation.api-spec.ts');

const CLAIMS = '/oauth2/token with a certificate › signs JWTs of RFC 9068 with a published key';
const OURS = 'tokens for the grid';
const THEIRS = 'tokens of another issuer of the WLCG';
const ID_TOKEN =
  'an ID token › says what the WLCG profile wants of every token, and names the groups that were asked for';

/** Tokens that we issue, and tokens of others and ours that our routes take. */
const COMMON = [
  {
    section: '2.1.1',
    text: 'Every token, ID tokens too, has `sub`, `exp`, `iss`, `wlcg.ver`, `aud`, `iat` and `jti`.',
    shown: [certificateTokens(CLAIMS), profiles(ID_TOKEN)],
  },
  {
    section: '2.1.1 sub',
    text: 'Each user has a `sub` that nobody else has, had or gets.',
    shown: [
      registry(
        'the registry › keeps the subject of a user for life, and never gives it to another',
      ),
      registry(
        'the registry › gives who comes back a subject of their own, unless the file says which',
      ),
      of('src/registry/model/registry-rules.spec.ts')(
        'rules of the registry as a whole › lets a subject of tokens belong to one user, and to no application',
      ),
    ],
  },
  {
    section: '2.1.1 sub',
    text: '`sub` is ASCII text of at most 255 characters.',
    shown: [
      certificateTokens(CLAIMS),
      registryFile('registry file › refuses the subject %j', 'grün'),
    ],
  },
  {
    section: '2.1.1 exp',
    text: 'A token is not taken at or after its `exp`.',
    shown: [
      accessToken('a token that is shown › is good until it expires'),
      foreign(`${THEIRS} › are refused with %s`, 'an end that has passed'),
    ],
  },
  {
    section: '2.1.1 iss',
    text: '`iss` is the one address of the issuer.',
    shown: [
      certificateTokens(CLAIMS),
      accessToken('a token that is shown › is no good: %s', 'of another service'),
    ],
  },
  {
    section: '2.1.1 iss',
    text: 'An issuer gives tokens for one virtual organisation only.',
    shown: [
      border(
        'an issuer of one virtual organisation (GRID_ISSUER_VO) › gives tokens for its groups and those without one, by no way for others',
      ),
      gridScopes(
        'the claim wlcg.groups › for %j is %j',
        'wlcg.groups:/other/grid_user wlcg.groups:/vo/',
      ),
    ],
  },
  {
    section: '2.1.1 wlcg.ver',
    text: '`wlcg.ver` is of the form major.minor, and `1.0` for tokens of this version of the profile.',
    shown: [certificateTokens(CLAIMS), profiles(ID_TOKEN)],
  },
  {
    section: '2.1.1 wlcg.groups',
    text: 'Names of groups keep to the grammar, and begin with the name of the virtual organisation.',
    shown: [
      gridScopes('the claim wlcg.groups › for %j is %j', 'wlcg.groups'),
      gridScopes(
        'the claim wlcg.groups › is none for a group without virtual organisation, or with a name that others do not understand',
      ),
    ],
  },
  {
    section: '2.1.1 wlcg.groups',
    text: 'Groups that are asked for by scopes, and that the user has, stand in the access token and in the ID token.',
    shown: [
      profiles(ID_TOKEN),
      scopes(`${OURS} › scopes of the WLCG profile › name groups, the one that is asked for first`),
    ],
  },
  {
    section: '2.1.1 aud',
    text: 'Audiences are compared as texts, with their case.',
    shown: [
      accessToken(
        'a token that is shown › for %j is for this service: %s, where any will do: %s',
        'SERVICE.toUpperCase()',
      ),
      foreign(`${THEIRS} › are refused with %s`, 'another audience'),
    ],
  },
  {
    section: '2.1.1 jti',
    text: 'No two tokens of the issuer have the same `jti`.',
    shown: [
      accessToken('a new access token › has an id of its own, also without a grant'),
      profiles(ID_TOKEN),
    ],
  },
  {
    section: '2.1.2 auth_time',
    text: 'The ID token says when the user signed in, when that is asked for (`max_age`).',
    shown: [
      openid(
        'OpenID Connect › the scope openid › gives an ID token for the application, bound to request and access token',
      ),
      signIn(
        'what an authorization request wants of the sign-in › max_age › asks for a sign-in when the last one is longer ago',
      ),
    ],
  },
];

const AUTHORIZATION = [
  {
    section: '2.2.1',
    text: 'A storage scope has a path; a token with one without a path is refused, and none is given.',
    shown: [
      gridScopes('a word of a scope › %j is unknown', 'storage.read'),
      scopes(`${OURS} › scopes of the WLCG profile › %s of %s gets nothing for %s`, 'storage.read'),
      foreign(`${THEIRS} › are refused with %s`, 'a storage scope without a path'),
    ],
  },
  {
    section: '2.2.1',
    text: 'Paths that the issuer writes are absolute, in normal form (RFC 3986 §6), and each name is escaped.',
    shown: [
      scopePath('the path of a storage scope › %s is written %s and means %s', '/%76o/%c3%a4'),
      scopePath('the path of a storage scope › %j is none'),
      scopes(
        `${OURS} › scopes of the WLCG profile › %s of %s asks for %s and gets %s`,
        'storage.create:/vo/sh%61red/new',
      ),
    ],
  },
  {
    section: '2.2.1',
    text: 'A scope holds for its path and everything below it, and for nothing beside it: `/foo` is not `/foobar`.',
    shown: [
      scopePath('the path of a storage scope › %s is above %s: %s', '/foobar'),
      scopes(
        `${OURS} › storage scopes in the catalogue › storage.read reads below its path, by whole names, and nothing else`,
      ),
      foreign(`${THEIRS} › open the paths of their scopes and no others`),
    ],
  },
  {
    section: '2.2.1',
    text: 'A path with a slash at its end is that of a directory, and of no file of its name.',
    shown: [
      pathRights(
        'where scopes hold in the catalogue › a slash at the end means the directory and no file of its name',
      ),
    ],
  },
  {
    section: '2.2.1 storage.create',
    text: 'It makes what is at or below its path and the directories that lead there; it makes nothing beside, and neither changes nor removes.',
    shown: [
      pathRights('where scopes hold in the catalogue › %s leads to /a/b: %s', '/ab'),
      scopes(
        `${OURS} › storage scopes in the catalogue › storage.create makes what is not there, and changes nothing`,
      ),
    ],
  },
  {
    section: '2.2.1 storage.stage',
    text: 'Whatever `wlcg.ver` says, the right to stage is none to read.',
    shown: [
      gridScopes('a scope holds another › %s holds %s: %s', 'storage.stage:/a'),
      foreign(`${THEIRS} › open the paths of their scopes and no others`),
    ],
  },
  {
    section: '2.2.2',
    text: '`wlcg.groups` is a JSON array of texts.',
    shown: [
      scopes(`${OURS} › scopes of the WLCG profile › name groups, the one that is asked for first`),
      grantee('scopes of a token › name groups of the user as the profile does'),
    ],
  },
  {
    section: '2.2.2',
    text: 'Who takes a token counts no group that it does not name, nor the one above one that it names.',
    shown: [
      foreign(`${THEIRS} › stand for the groups that they name, as far as the user has them`),
    ],
  },
  {
    section: '2.2.3',
    text: 'Who knows groups and capabilities looks first whether a token has any capability, for this service or another; then it counts by these alone.',
    shown: [
      foreign(
        `${THEIRS} › count by their capabilities alone where they have one, whatever service it is for`,
      ),
    ],
  },
  {
    section: '3.1',
    text: 'When a group that is asked for is not given, the answer says which scope is.',
    shown: [
      profiles('what is not granted › is left out of the answer’s scope, groups too'),
      exchange('exchange of our own tokens › gives no group that the other does not name'),
    ],
  },
  {
    section: '3.2',
    text: 'When a capability that is asked for is not given, the answer says which scope is (RFC 6749 §3.3).',
    shown: [
      profiles('what is not granted › is left out of the answer’s scope, groups too'),
      scopes(
        `${OURS} › scopes of the WLCG profile › %s of %s asks for %s and gets %s`,
        'storage.read:/vo/own wlcg',
      ),
    ],
  },
  {
    section: '3.3',
    text: 'Who may ask for a set of capabilities (`wlcg.capabilityset`, optional) gets all of it. We have no sets: the scope is unknown.',
    shown: [profiles('what is not granted › is a set of capabilities, which nobody has here')],
  },
];

const SECURITY = [
  {
    section: '4.2',
    text: 'A token is a JWT, signed with an asymmetric key, and its header names the key (`kid`).',
    shown: [certificateTokens(CLAIMS), profiles(ID_TOKEN)],
  },
  {
    section: '4.2',
    text: 'The key set is a JWK set (RFC 7517); the key of a token is the one in it with the token’s `kid`.',
    shown: [
      certificateTokens(CLAIMS),
      rotation(
        'rotation of signing keys › publishes the next key before it signs, and fails no request on either instance',
      ),
      verifier('verifyToken with given keys › %s', 'another kid'),
    ],
  },
  {
    section: '4.2',
    text: 'Who takes a token looks whether its issuer is trusted, and takes the keys from the address that the issuer’s metadata name.',
    shown: [
      foreign(
        `${THEIRS} › count by their capabilities alone where they have one, whatever service it is for`,
      ),
      foreign(`${THEIRS} › are refused with %s`, 'an issuer that is not trusted'),
    ],
  },
  {
    section: '4.2',
    text: 'What is said between issuer and resource goes over HTTPS, and the name of the host is verified.',
    shown: [
      tls('requests by TLS › verify › checks the name of the host'),
      tls('requests by TLS › verify › trusts no unknown authority'),
      hostile(
        'against a hostile provider › metadata › with an endpoint in plain http are not used',
      ),
      faults(
        'Slurm’s REST service is not made for the internet › never here: TLS below 1.2 and plain HTTP get no answer',
      ),
    ],
  },
  {
    section: '4.2.1',
    text: 'Metadata are at `/.well-known/openid-configuration` of the issuer and name `jwks_uri`.',
    shown: [
      openid(
        'OpenID Connect › GET /.well-known/openid-configuration › says the same as the document of RFC 8414',
      ),
    ],
  },
  {
    section: '4.3.1',
    text: 'Lives are those of the table unless a community has agreed on others: access tokens 6 hours at most, by default 1 hour with a storage scope, ID tokens 1 hour, refresh tokens 30 days.',
    shown: [
      certificateTokens('/oauth2/token with a certificate › answers the same to GET and POST'),
      accessToken('a new access token › lives %i s with %j at most %i s'),
      openid(
        'OpenID Connect › the scope openid › gives an ID token for the application, bound to request and access token',
      ),
      of('src/config/env.spec.ts')('readConfig › has the defaults of the contract'),
    ],
  },
  {
    section: '4.3.2',
    text: 'Refresh tokens are kept secret, on the way and in the store.',
    shown: [
      flowB(
        'Flow B: a web portal acts for a user › stores codes, refresh tokens and sessions as hashes only',
      ),
      faults(
        'Slurm’s REST service is not made for the internet › never here: TLS below 1.2 and plain HTTP get no answer',
      ),
    ],
  },
  {
    section: '4.3.2',
    text: 'Only the application that got a refresh token can use it.',
    shown: [
      refresh(
        'refresh, revocation and introspection › refuses tokens that are expired, of another application or no refresh tokens',
      ),
    ],
  },
  {
    section: '4.3.2',
    text: 'Work is handed from service to service by token exchange, never with more than the first had.',
    shown: [
      exchange(
        'exchange of our own tokens › gives a narrower token that names the application and dies with its parent',
      ),
      exchange('exchange of our own tokens › refuses %s', 'a wider scope'),
      narrowing(
        'a chain of exchanges › never opens what parent, application, group, catalogue or path forbids, and gives what all allow',
      ),
    ],
  },
  {
    section: '4.3.2',
    text: 'Refresh tokens can be revoked (RFC 7009).',
    shown: [
      refresh(
        'refresh, revocation and introspection › POST /oauth2/revoke › ends the family with a refresh token',
      ),
      refresh(
        'refresh, revocation and introspection › POST /oauth2/revoke › does nothing with tokens of others or nonsense, and says nothing',
      ),
    ],
  },
  {
    section: '4.3.3',
    text: 'Claims that the profile does not name count for nothing when a token is taken.',
    shown: [foreign(`${THEIRS} › may have further claims and a newer minor version`)],
  },
  {
    section: '4.3.3',
    text: 'A token of another major version is refused, one of a newer minor version taken.',
    shown: [
      foreign(`${THEIRS} › are refused with %s`, 'another major version'),
      foreign(`${THEIRS} › may have further claims and a newer minor version`),
    ],
  },
  {
    section: '4.3.3',
    text: 'Signatures by RS256 and ES256 are understood.',
    shown: [foreign(`${THEIRS} › may be signed by RS256 as well as ES256, and not by a secret`)],
  },
];

/** WLCG Common JWT Profiles 1.3 (17 June 2026). */
export const WLCG = {
  name: 'WLCG Common JWT Profiles 1.3',
  address: 'https://doi.org/10.5281/zenodo.20734267',
  about: [
    'We are issuer (2.1, 2.2, 3, 4) and, with catalogue and jobs, a resource that takes its own tokens and those of issuers that it is told to',
    'trust (`GRID_ID_PROVIDERS`). Demands of clients and of operators’ agreements are left out, and so is what is only recommended.',
  ],
  requirements: [...COMMON, ...AUTHORIZATION, ...SECURITY],
};
