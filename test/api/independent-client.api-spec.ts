import * as oauth from 'openid-client';
import { importJWK, type JWK } from 'jose';
import { Agent, fetch as undiciFetch } from 'undici';
import { addApplication, makeKey } from '../support/applications.js';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { CALLBACK } from '../support/portal.js';
import { startGrid, type Grid } from '../support/testbed.js';

interface DiscoveryOptions {
  algorithm?: 'oauth2' | 'oidc';
  dispatcher?: Agent;
}
type SigningKey = Parameters<typeof oauth.PrivateKeyJwt>[0];

describe('openid-client, a client that knows nothing of this server', () => {
  let grid: Grid;
  let agent: Agent;
  beforeAll(async () => {
    grid = await startGrid();
    agent = new Agent({ connect: { ca: grid.ca } });
  });
  afterAll(async () => {
    await agent?.close();
    await grid?.remove();
  });

  const discover = (
    id: string,
    authentication: oauth.ClientAuth,
    metadata?: string | Partial<oauth.ClientMetadata>,
    { algorithm = 'oauth2', dispatcher = agent }: DiscoveryOptions = {},
  ) =>
    oauth.discovery(new URL(grid.url), id, metadata, authentication, {
      algorithm,
      [oauth.customFetch]: ((url: string, options: object) =>
        undiciFetch(url, { ...options, dispatcher })) as unknown as oauth.CustomFetch,
    });

  const CALLBACK_OF_APP = 'https://app.example/cb';

  /** What a client of FAPI 2.0 does: PAR, PKCE, the answer with `iss`. Answers the tokens. */
  async function fapiTokens(
    config: oauth.Configuration,
    options: { DPoP?: oauth.DPoPHandle } = {},
  ): Promise<oauth.TokenEndpointResponse> {
    const verifier = oauth.randomPKCECodeVerifier();
    const state = oauth.randomState();
    const parameters = {
      redirect_uri: CALLBACK_OF_APP,
      scope: 'jobs:read',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    };
    const url = await oauth.buildAuthorizationUrlWithPAR(config, parameters, options);
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`${url.pathname}${url.search}`);
    const back = await visitor.send(formOf(page.body), { decision: 'allow' });
    return oauth.authorizationCodeGrant(
      config,
      new URL(String(back.headers['location'])),
      { pkceCodeVerifier: verifier, expectedState: state },
      undefined,
      options,
    );
  }

  it('completes FAPI 2.0 with private_key_jwt, PAR and DPoP', async () => {
    const key = await makeKey();
    await addApplication(grid, {
      ...{ id: 'bank', authentication: 'private_key_jwt', jwks: { keys: [key.jwk] } },
      profile: 'fapi2',
    });
    const signer = await importJWK(key.privateKey.export({ format: 'jwk' }) as JWK, 'ES256');
    const config = await discover('bank', oauth.PrivateKeyJwt(signer as SigningKey));
    const DPoP = oauth.getDPoPHandle(config, await oauth.randomDPoPKeyPair('ES256'));
    const tokens = await fapiTokens(config, { DPoP });
    expect(tokens).toMatchObject({ token_type: 'dpop', scope: 'jobs:read' });
    const jobs = new URL('/jobs', grid.url);
    const read = (handle: oauth.DPoPHandle) =>
      oauth.fetchProtectedResource(
        ...([config, tokens.access_token, jobs, 'GET', undefined, undefined] as const),
        { DPoP: handle },
      );
    expect((await read(DPoP)).status).toBe(200);
    const thief = oauth.getDPoPHandle(config, await oauth.randomDPoPKeyPair('ES256'));
    await expect(read(thief)).rejects.toMatchObject({ status: 401 });
    const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token!, undefined, {
      DPoP,
    });
    expect(renewed.refresh_token).toBe(tokens.refresh_token);
    const about = await oauth.tokenIntrospection(config, renewed.access_token);
    expect(about).toMatchObject({ active: true, client_id: 'bank', token_type: 'DPoP' });
  });

  it('completes FAPI 2.0 with mTLS, PAR and certificate-bound tokens', async () => {
    await addApplication(grid, {
      ...{ id: 'mtls', authentication: 'tls_client_auth', profile: 'fapi2' },
      ...{ subjectDn: '/DC=org/DC=grid/CN=stranger', scopes: ['jobs:read'], group: 'grid_user' },
    });
    const holder = new Agent({ connect: { ca: grid.ca, ...(await grid.pair('stranger')) } });
    try {
      const metadata = { use_mtls_endpoint_aliases: true };
      const config = await discover('mtls', oauth.TlsClientAuth(), metadata, {
        dispatcher: holder,
      });
      const tokens = await fapiTokens(config);
      expect(tokens.token_type).toBe('bearer');
      const jobs = new URL('/jobs', grid.url);
      const { status } = await oauth.fetchProtectedResource(
        config,
        tokens.access_token,
        jobs,
        'GET',
      );
      expect(status).toBe(200);
      expect((await grid.bearer(tokens.access_token).get('/jobs')).status).toBe(401);
      const own = await oauth.clientCredentialsGrant(config);
      expect(own).toMatchObject({ scope: 'jobs:read', group: 'grid_user' });
      const without = await discover('mtls', oauth.TlsClientAuth(), metadata);
      await expect(oauth.clientCredentialsGrant(without)).rejects.toMatchObject({ status: 401 });
    } finally {
      await holder.close();
    }
  });

  it('completes code with PKCE, renewal, introspection and revocation', async () => {
    const config = await discover('demo-portal', oauth.None());
    expect(config.serverMetadata().issuer).toBe(grid.url);
    const verifier = oauth.randomPKCECodeVerifier();
    const state = oauth.randomState();
    const url = oauth.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'jobs:read catalogue:read',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`${url.pathname}${url.search}`);
    const back = await visitor.send(formOf(page.body), { decision: 'allow' });
    const tokens = await oauth.authorizationCodeGrant(
      config,
      new URL(String(back.headers['location'])),
      { pkceCodeVerifier: verifier, expectedState: state },
    );
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'jobs:read catalogue:read' });
    const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token!);
    const about = await oauth.tokenIntrospection(config, renewed.access_token);
    expect(about).toMatchObject({ active: true, username: 'alice', client_id: 'demo-portal' });
    await oauth.tokenRevocation(config, renewed.access_token);
    const after = await oauth.tokenIntrospection(config, renewed.access_token);
    expect(after).toEqual({ active: false });
  });

  it('signs a user in with OpenID Connect, renews, asks who it is, and signs out', async () => {
    const config = await discover('demo-portal', oauth.None(), undefined, { algorithm: 'oidc' });
    oauth.enableNonRepudiationChecks(config); // the signature of the ID token, too
    const after = 'http://localhost:8900/out';
    await grid.sql(
      `update registry_application set post_logout_redirect_uris = array[$1] where id = 'demo-portal'`,
      [after],
    );
    const [verifier, nonce] = [oauth.randomPKCECodeVerifier(), oauth.randomNonce()];
    const url = oauth.buildAuthorizationUrl(config, {
      redirect_uri: CALLBACK,
      scope: 'openid profile offline_access jobs:read',
      nonce,
      max_age: '600',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(`${url.pathname}${url.search}`);
    const back = await visitor.send(formOf(page.body), { decision: 'allow' });
    const answer = new URL(String(back.headers['location']));
    const checks = { pkceCodeVerifier: verifier, expectedNonce: nonce, maxAge: 600 };
    const tokens = await oauth.authorizationCodeGrant(config, answer, {
      ...checks,
      idTokenExpected: true,
    });
    const { sub } = tokens.claims()!;
    const user = await oauth.fetchUserInfo(config, tokens.access_token, sub);
    expect(user).toEqual({ sub, name: 'Alice Example', preferred_username: 'alice' });
    const renewed = await oauth.refreshTokenGrant(config, tokens.refresh_token!);
    expect(renewed.claims()).toMatchObject({ sub, auth_time: tokens.claims()!.auth_time });
    const leaving = oauth.buildEndSessionUrl(config, {
      id_token_hint: renewed.id_token!,
      post_logout_redirect_uri: after,
      state: 'left',
    });
    const left = await visitor.open(`${leaving.pathname}${leaving.search}`);
    expect(left.headers['location']).toBe(`${after}?state=left`);
  });

  it('completes the device flow', async () => {
    const config = await discover('gridgate-cli', oauth.None());
    const started = await oauth.initiateDeviceAuthorization(config, { scope: 'jobs:read' });
    const visitor = new PageVisitor(await grid.certificate('bob'));
    const { pathname, search } = new URL(started.verification_uri_complete!);
    const page = await visitor.open(`${pathname}${search}`);
    await visitor.send(formOf(page.body), { decision: 'allow' });
    const tokens = await oauth.pollDeviceAuthorizationGrant(config, { ...started, interval: 1 });
    expect(tokens).toMatchObject({ scope: 'jobs:read', group: 'grid_user' });
  });

  it.each([
    ['client_secret_basic', oauth.ClientSecretBasic],
    ['client_secret_post', oauth.ClientSecretPost],
  ])('authenticates a confidential application by %s', async (_name, method) => {
    const secret = 'a secret: with % and ü';
    const hash = Buffer.from(
      await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret)),
    ).toString('base64url');
    await grid.sql(
      `insert into registry_application
        (id, position, name, redirect_uris, confidential, secret_hash, origin)
       values ('web', 9, 'Web', '{https://web.example/cb}', true, $1, 'command')
       on conflict do nothing`,
      [hash],
    );
    const config = await discover('web', method(secret), secret);
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const url = oauth.buildAuthorizationUrl(config, { redirect_uri: 'https://web.example/cb' });
    const page = await visitor.open(`${url.pathname}${url.search}`);
    const back = await visitor.send(formOf(page.body), { decision: 'allow' });
    const location = new URL(String(back.headers['location']));
    const wrong = await discover('web', method('wrong'), 'wrong');
    await expect(oauth.authorizationCodeGrant(wrong, location)).rejects.toMatchObject({
      status: 401,
    });
    const tokens = await oauth.authorizationCodeGrant(config, location);
    expect(tokens['group']).toBe('grid_user');
  });
});
