import { DpopCaller, makeKey } from '../support/applications.js';
import { challengeOf } from '../support/challenges.js';
import { startGrid, type Answer, type Grid } from '../support/testbed.js';

let grid: Grid;
beforeAll(async () => {
  grid = await startGrid();
});
afterAll(async () => grid?.remove());

describe('GET /.well-known/oauth-protected-resource', () => {
  it('says which tokens the service takes, as the authorization server does (RFC 9728)', async () => {
    const { anonymous, url } = grid;
    const { status, body, headers } = await anonymous.get('/.well-known/oauth-protected-resource');
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=300']);
    const { body: server } = await anonymous.get('/.well-known/oauth-authorization-server');
    expect(body).toEqual({
      resource: url,
      authorization_servers: [server.issuer],
      scopes_supported: [
        ...['jobs:read', 'jobs:submit', 'jobs:kill', 'catalogue:read', 'catalogue:write'],
        ...['webhooks', 'compute.read', 'compute.create', 'compute.modify', 'compute.cancel'],
        ...['storage.read:/', 'storage.create:/', 'storage.modify:/', 'storage.stage:/'],
        ...['openid', 'profile', 'email'],
      ],
      bearer_methods_supported: ['header', 'query'],
      resource_name: 'Gridgate',
      resource_documentation: `${url}/docs`,
      tls_client_certificate_bound_access_tokens: true,
      dpop_signing_alg_values_supported: server.dpop_signing_alg_values_supported,
      dpop_bound_access_tokens_required: false,
    });
    expect(server.protected_resources).toEqual([body.resource]);
    expect(server.scopes_supported).toEqual(expect.arrayContaining(body.scopes_supported));
  });

  it('names the resource that tokens are asked for by (RFC 8707), and the ways to send them', async () => {
    const { body } = await grid.anonymous.get('/.well-known/oauth-protected-resource');
    const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
    const asked = { ...query, resource: body.resource as string };
    const alice = await grid.certificate('alice');
    const { body: tokens } = await alice.get('/oauth2/token', { query: asked });
    const token = tokens.access_token as string;
    const ways: Record<string, () => Promise<Answer>> = {
      header: () => grid.bearer(token).get('/jobs'),
      query: () => grid.anonymous.get('/jobs', { query: { access_token: token } }),
    };
    expect(body.bearer_methods_supported).toEqual(Object.keys(ways));
    for (const way of Object.values(ways)) expect((await way()).status).toBe(200);
  });
});

describe('the challenge of a refused token', () => {
  it.each(['/jobs', '/filecatalogue/metadata', '/oauth2/userinfo'])(
    'of %s names the metadata of the resource',
    async (path) => {
      const named = challengeOf(grid, '').replace(/^, /, '');
      for (const authorization of ['Bearer x', 'Bearer', 'Basic eDp5', 'DPoP x']) {
        const headers = { authorization };
        const answer = await grid.anonymous.get(path, { headers });
        const said = String(answer.headers['www-authenticate']);
        expect([authorization, said.split(', ').at(-1)]).toEqual([authorization, named]);
      }
      const { headers } = await grid.anonymous.get(path);
      expect(headers['www-authenticate']).toBe(challengeOf(grid, 'Bearer realm="gridgate"'));
    },
  );

  it('is not that of an application, which is asked for its secret', async () => {
    const answer = await grid.anonymous.post('/oauth2/token', {
      form: { grant_type: 'refresh_token', refresh_token: 'none' },
      headers: { authorization: 'Basic eDp5' },
    });
    const said = answer.headers['www-authenticate'];
    expect([answer.status, said]).toEqual([401, 'Basic realm="gridgate"']);
  });
});

describe('a bound token that somebody asks about who shows it', () => {
  it.each([
    ['Bearer', 'invalid_token', 'The access token is bound to a DPoP key: send it as DPoP token'],
    ['DPoP', 'invalid_dpop_proof', 'Send a DPoP proof'],
  ])('as %s without a proof is refused by %s', async (scheme, error, detail) => {
    const caller = new DpopCaller(await grid.certificate('alice'), await makeKey());
    const query = 'grant_type=client_credentials&group=grid_user&setup=Prod';
    const { body } = await caller.call('GET', `/oauth2/token?${query}`);
    const token = body.access_token as string;
    for (const path of ['/oauth2/introspect', '/oauth2/revoke']) {
      const headers = { authorization: `${scheme} ${token}` };
      const answer = await grid.anonymous.post(path, { form: { token }, headers });
      const { error: said, error_description: description } = answer.body;
      expect([answer.status, said, description]).toEqual([401, error, detail]);
      expect(answer.headers['www-authenticate']).toContain(
        `DPoP realm="gridgate", error="${error}", error_description="${detail}"`,
      );
    }
  });
});
