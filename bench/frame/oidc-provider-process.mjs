/**
 * The peer of the figures of tokens: oidc-provider with its own store in memory, ES256, one confidential client. Every id
 * `bench-<number>` is a refresh token of a grant of its own until it is used. Says its port on standard output.
 */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { Provider } from 'oidc-provider';

const HOUR_SECONDS = 3600;
const { cert, key } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const RESOURCE = 'https://grid.example';
const SCOPE = 'jobs:read jobs:submit offline_access';

/** The store of a process: a map of what is saved, and the grants that were there before. */
class Store {
  static models = new Map();

  constructor(model) {
    this.model = model;
    if (!Store.models.has(model)) Store.models.set(model, new Map());
    this.saved = Store.models.get(model);
  }

  async upsert(id, payload) {
    this.saved.set(id, payload);
  }

  async find(id) {
    return this.saved.get(id) ?? this.earlier(id);
  }

  earlier(id) {
    if (!/^bench-\d{9}/.test(id)) return undefined;
    const now = Math.floor(Date.now() / 1000);
    const rest = { accountId: 'alice', clientId: 'bench', exp: now + HOUR_SECONDS, iat: now };
    if (this.model === 'Grant') {
      return {
        ...rest,
        jti: id,
        kind: 'Grant',
        resources: { [RESOURCE]: SCOPE },
        openid: { scope: SCOPE },
      };
    }
    if (this.model !== 'RefreshToken') return undefined;
    const of = { grantId: id, scope: SCOPE, resource: RESOURCE, gty: 'authorization_code' };
    return { ...rest, ...of, jti: id, kind: 'RefreshToken', expiresWithSession: false };
  }

  async findByUid() {}
  async findByUserCode() {}

  async consume(id) {
    const payload = await this.find(id);
    if (payload) this.saved.set(id, { ...payload, consumed: Math.floor(Date.now() / 1000) });
  }

  async destroy(id) {
    this.saved.delete(id);
  }

  async revokeByGrantId() {}
}

const client = {
  client_id: 'bench',
  client_secret: 'bench-secret',
  redirect_uris: ['https://portal.example/callback'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  response_types: ['code'],
};

const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'bench', use: 'sig', alg: 'ES256' };
const provider = new Provider(RESOURCE, {
  adapter: Store,
  clients: [client],
  enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  jwks: { keys: [jwk] },
  cookies: { keys: ['bench'] },
  scopes: ['offline_access', 'jobs:read', 'jobs:submit'],
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => RESOURCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: SCOPE,
        audience: RESOURCE,
        accessTokenTTL: HOUR_SECONDS,
        accessTokenFormat: process.env.OPAQUE === undefined ? 'jwt' : 'opaque',
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});
provider.proxy = true;

const server = https.createServer({ cert, key }, provider.callback());
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${server.address().port}\n`));
