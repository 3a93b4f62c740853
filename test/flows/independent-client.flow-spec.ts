import * as oauth from 'openid-client';
import { Agent, fetch as undiciFetch } from 'undici';
import { formOf, PageVisitor } from '../support/page-visitor.js';
import { CALLBACK } from '../support/portal.js';
import { startGrid, type Grid } from '../support/testbed.js';

describe('openid-client, a client that knows nothing of this server', () => {
  let grid: Grid;
  let agent: Agent;
  beforeAll(async () => {
    grid = await startGrid();
    agent = new Agent({ connect: { ca: grid.ca } });
  }, 90_000);
  afterAll(async () => {
    await agent?.close();
    await grid?.remove();
  });

  const discover = (id: string, authentication: oauth.ClientAuth, secret?: string) =>
    oauth.discovery(new URL(grid.url), id, secret, authentication, {
      algorithm: 'oauth2',
      [oauth.customFetch]: ((url: string, options: object) =>
        undiciFetch(url, { ...options, dispatcher: agent })) as unknown as oauth.CustomFetch,
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
    expect(about).toMatchObject({ active: true, sub: 'alice', client_id: 'demo-portal' });
    await oauth.tokenRevocation(config, renewed.access_token);
    const after = await oauth.tokenIntrospection(config, renewed.access_token);
    expect(after).toEqual({ active: false });
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
