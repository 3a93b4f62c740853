/**
 * A real OpenID provider (oidc-provider) as a process of its own: device flow, PAR, DPoP, mutual TLS, rotation,
 * introspection, revocation, JWT access tokens for a resource, token exchange.
 *
 *   node test/support/id-provider-server.mjs '{"cert": "...", "key": "...", "ca": "...", "port": 0, "mtlsPort": 0}'
 *
 * Prints one line of JSON, {issuer, mtlsOrigin}, when it listens; ends with SIGTERM or when its standard input closes.
 * Further members of the argument: `clients` (added ones), `redirectUris`, `accessTokenSeconds`.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { Provider, errors } from 'oidc-provider';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
/** The resource whose access tokens are JWTs. */
const RESOURCE = 'https://grid.example/api';
const RESOURCE_SCOPE = 'jobs:read jobs:submit wlcg.groups:/vo/user wlcg.groups:/vo/admin';

const options = JSON.parse(process.argv[2] ?? '{}');
const {
  cert,
  key,
  ca,
  port = 0,
  mtlsPort = 0,
  clients = [],
  redirectUris = ['https://portal.example/callback'],
  accessTokenSeconds = 600,
} = options;

const tls = { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) };

function listen(server, wanted) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => resolve(server.address().port));
  });
}

const web = {
  redirect_uris: redirectUris,
  grant_types: ['authorization_code', 'refresh_token', DEVICE, EXCHANGE, 'client_credentials'],
  response_types: ['code'],
};
const machine = {
  redirect_uris: [],
  grant_types: ['client_credentials'],
  response_types: [],
};

const BUILT_IN_CLIENTS = [
  { ...web, client_id: 'conf', client_secret: 'secret of conf: 100% & more' },
  {
    ...web,
    client_id: 'post',
    client_secret: 'secret-of-post',
    token_endpoint_auth_method: 'client_secret_post',
  },
  // every access token of these is a JWT for RESOURCE
  { ...web, client_id: 'jwt-conf', client_secret: 'secret-of-jwt-conf' },
  {
    ...web,
    client_id: 'pub',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token', DEVICE],
  },
  {
    ...web,
    client_id: 'par',
    client_secret: 'secret-of-par',
    require_pushed_authorization_requests: true,
  },
  { ...web, client_id: 'dpop', client_secret: 'secret-of-dpop', dpop_bound_access_tokens: true },
  {
    ...machine,
    client_id: 'secret-jwt',
    client_secret: 'a secret long enough for HS256 signatures',
    token_endpoint_auth_method: 'client_secret_jwt',
  },
];

function resourceServer() {
  return {
    scope: RESOURCE_SCOPE,
    audience: RESOURCE,
    accessTokenTTL: accessTokenSeconds,
    accessTokenFormat: 'jwt',
    jwt: { sign: { alg: 'RS256' } },
  };
}

function configuration(mtlsOrigin) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const alias = (path) => `${mtlsOrigin}${path}`;
  return {
    clients: [...BUILT_IN_CLIENTS, ...clients],
    clientAuthMethods: [
      'client_secret_basic',
      'client_secret_post',
      'client_secret_jwt',
      'private_key_jwt',
      'tls_client_auth',
      'self_signed_tls_client_auth',
      'none',
    ],
    jwks: {
      keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'rsa-1', use: 'sig', alg: 'RS256' }],
    },
    cookies: { keys: ['a key for cookies of tests'] },
    scopes: ['openid', 'offline_access', 'profile', 'eduperson'],
    claims: {
      openid: ['sub'],
      profile: ['name'],
      eduperson: ['eduperson_entitlement'],
    },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({
        sub: id,
        name: `User ${id}`,
        eduperson_entitlement: ['urn:mace:egi.eu:group:vo:role=member#aai.egi.eu'],
      }),
    }),
    ttl: { AccessToken: accessTokenSeconds, ClientCredentials: accessTokenSeconds },
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    pkce: { required: (_ctx, client) => client.clientId === 'pub' },
    discovery: {
      mtls_endpoint_aliases: {
        token_endpoint: alias('/token'),
        introspection_endpoint: alias('/token/introspection'),
        revocation_endpoint: alias('/token/revocation'),
      },
    },
    features: {
      devInteractions: { enabled: true },
      deviceFlow: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      userinfo: { enabled: true },
      dPoP: {
        enabled: true,
        nonceSecret: Buffer.alloc(32, 7),
        requireNonce: (ctx) => ctx.oidc.client?.clientId === 'dpop',
      },
      mTLS: {
        enabled: true,
        certificateBoundAccessTokens: true,
        selfSignedTlsClientAuth: true,
        tlsClientAuth: true,
        getCertificate: (ctx) => {
          const peer = ctx.socket.getPeerCertificate?.();
          return peer?.raw ? new X509Certificate(peer.raw) : undefined;
        },
        certificateAuthorized: (ctx) => ctx.socket.authorized === true,
        certificateSubjectMatches: (ctx, property, expected) => {
          const peer = ctx.socket.getPeerCertificate?.();
          return (
            property === 'tls_client_auth_subject_dn' && expected === `CN=${peer?.subject?.CN}`
          );
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, client) =>
          client.clientId.startsWith('jwt-') ? RESOURCE : undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, indicator) => {
          if (indicator !== RESOURCE) throw new errors.InvalidTarget();
          return resourceServer();
        },
      },
    },
  };
}

/** RFC 8693 for opaque access tokens of this provider: the same user, the scopes asked for. */
function addTokenExchange(provider) {
  const handler = async (_provider, _helpers, ctx) => {
    const { client, params } = ctx.oidc;
    const subject = await provider.AccessToken.find(params.subject_token);
    if (!subject) throw new errors.InvalidGrant('subject token not found');
    if (params.scope?.split(' ').includes('admin'))
      throw new errors.InvalidScope('not for you', 'admin');
    const token = new provider.AccessToken({
      client,
      accountId: subject.accountId,
      grantId: subject.grantId,
      expiresWithSession: false,
      gty: 'token_exchange',
      scope: params.scope,
    });
    ctx.body = {
      access_token: await token.save(),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: token.expiration,
      scope: params.scope,
      seen_audience: [params.audience].flat().filter(Boolean),
    };
  };
  const parameters = [
    'subject_token',
    'subject_token_type',
    'actor_token',
    'actor_token_type',
    'requested_token_type',
    'audience',
    'scope',
  ];
  // oidc-provider calls a grant handler as (ctx, next) in its older form
  provider.registerGrantType(
    EXCHANGE,
    (...args) => handler(provider, undefined, args.find((one) => one?.oidc) ?? args.at(-1)),
    parameters,
    ['audience'],
  );
}

let handle = (_request, response) => response.writeHead(503).end();
const main = createServer(tls, (request, response) => handle(request, response));
const mutual = createServer(
  { ...tls, requestCert: true, rejectUnauthorized: false },
  (request, response) => handle(request, response),
);
const issuer = `https://localhost:${await listen(main, port)}`;
const mtlsOrigin = `https://localhost:${await listen(mutual, mtlsPort)}`;
const provider = new Provider(issuer, configuration(mtlsOrigin));
addTokenExchange(provider);
if (options.debug) provider.on('server_error', (_ctx, error) => console.error(error));
handle = provider.callback();
process.stdout.write(`${JSON.stringify({ issuer, mtlsOrigin })}\n`);

const stop = () => process.exit(0);
process.on('SIGTERM', stop);
process.stdin.on('end', stop).on('error', stop).resume();
