import { decodeProtectedHeader } from 'jose';
import { challengeOf } from '../support/challenges.js';
import { formOf, formsOf, PageVisitor, redirectOf } from '../support/page-visitor.js';
import { accessTokenHash, claimsOf, openidTokens, verifiedIdToken } from '../support/openid.js';
import {
  authorizePath,
  CALLBACK,
  exchange,
  PORTAL,
  portalTokens,
  renew,
} from '../support/portal.js';
import { PROBLEM_CODES, type ProblemCode } from '#src/kernel/index.js';
import { eventually, startGrid, type Answer, type Grid } from '../support/testbed.js';

const CERTIFICATE_CLASS = 'urn:oasis:names:tc:SAML:2.0:ac:classes:TLSClient';
/** What every answer with a token has. */
const MEMBERS = ['access_token', 'expires_in', 'group', 'scope', 'setup', 'token', 'token_type'];
const UUID = /^[\da-f-]{36}$/;

/** The challenge of an answer, and its body with the status of the answer. */
function refusalOf({ status, headers, body }: Answer): unknown {
  return [headers['www-authenticate'], { ...body, status }];
}

function problem(error: string, code: ProblemCode, detail: string): object {
  const { status, title } = PROBLEM_CODES[code];
  return {
    ...{ error, error_description: detail, status, title, detail, code },
    type: `urn:gridgate:problem:${code}`,
    instance: expect.stringMatching(/^urn:gridgate:request:./),
  };
}

describe('OpenID Connect', () => {
  let grid: Grid;
  beforeAll(async () => {
    grid = await startGrid();
  });
  afterAll(async () => grid?.remove());

  describe('GET /.well-known/openid-configuration', () => {
    it('says the same as the document of RFC 8414', async () => {
      const { status, body, headers } = await grid.anonymous.get(
        '/.well-known/openid-configuration',
      );
      expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=300']);
      const oauth = await grid.anonymous.get('/.well-known/oauth-authorization-server');
      expect(body).toEqual(oauth.body);
      expect(body).toMatchObject({
        issuer: grid.url,
        authorization_endpoint: `${grid.url}/oauth2/auth`,
        jwks_uri: `${grid.url}/.well-known/jwks.json`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        request_parameter_supported: false,
        request_uri_parameter_supported: false,
        claims_parameter_supported: false,
        authorization_response_iss_parameter_supported: true,
        protected_resources: [grid.url],
      });
      for (const scope of ['openid', 'profile', 'email', 'offline_access', 'jobs:read']) {
        expect(body.scopes_supported).toContain(scope);
      }
    });
  });

  describe('an application that is registered with RS256', () => {
    const choose = (algorithm: string | null) =>
      grid.sql('update registry_application set id_token_alg = $1 where id = $2', [
        algorithm,
        PORTAL,
      ]);
    afterAll(() => choose(null));

    it('gets its ID tokens with that, as Discovery demands, and access tokens as before', async () => {
      const document = await grid.anonymous.get('/.well-known/openid-configuration');
      expect(document.body.id_token_signing_alg_values_supported).toEqual(['ES256', 'RS256']);
      await choose('RS256');
      const body = await eventually(async () => {
        const answer = await openidTokens(grid, 'alice', { scope: 'openid offline_access' });
        const { alg } = decodeProtectedHeader(answer.body.id_token);
        return alg === 'RS256' && answer.body;
      }, 'an ID token of RS256');
      const claims = await verifiedIdToken(grid.anonymous, body.id_token);
      expect(claims['at_hash']).toBe(accessTokenHash(body.access_token));
      expect(decodeProtectedHeader(body.access_token)).toMatchObject({ alg: 'ES256' });
      const renewed = await renew(grid, body.refresh_token);
      const { id_token: again } = renewed.body as unknown as { id_token: string };
      expect(decodeProtectedHeader(again)).toMatchObject({ alg: 'RS256' });
      const asAccess = await grid.bearer(body.id_token).get('/jobs');
      expect(asAccess.status).toBe(401);
    });

    it('signs out with such a token as hint', async () => {
      const { body } = await openidTokens(grid, 'alice', { scope: 'openid' });
      const query = { id_token_hint: body.id_token };
      const page = await grid.anonymous.get('/oauth2/logout', { query });
      expect(page.status).toBe(200);
    });
  });

  describe('the scope openid', () => {
    it('gives an ID token for the application, bound to request and access token', async () => {
      const before = Math.floor(Date.now() / 1000);
      const { status, body } = await openidTokens(grid, 'alice', {
        scope: 'openid jobs:read',
        nonce: 'n-0S6_WzA2Mj',
      });
      expect(status).toBe(200);
      expect(Object.keys(body).sort()).toEqual([...MEMBERS, 'id_token'].sort());
      expect(body.scope).toBe('jobs:read openid');
      const claims = await verifiedIdToken(grid.anonymous, body.id_token);
      expect(claims).toEqual({
        iss: grid.url,
        sub: claimsOf(body.access_token).sub,
        aud: PORTAL,
        exp: (claims.iat ?? 0) + 3600,
        iat: expect.any(Number),
        auth_time: expect.any(Number),
        nonce: 'n-0S6_WzA2Mj',
        acr: CERTIFICATE_CLASS,
        at_hash: accessTokenHash(body.access_token),
        sid: expect.stringMatching(UUID),
        jti: expect.stringMatching(/^[\w-]{22}$/),
        'wlcg.ver': '1.0',
      });
      expect(claims['auth_time']).toBeGreaterThanOrEqual(before);
      expect(claims['auth_time']).toBeLessThanOrEqual(claims.iat!);
    });

    it('alone opens nothing but what is said of the user', async () => {
      const { body } = await openidTokens(grid, 'alice', { scope: 'openid' });
      expect(body.scope).toBe('openid');
      const jobs = await grid.bearer(body.access_token).get('/jobs');
      expect([jobs.status, jobs.body.code]).toEqual([403, 'auth.insufficient-scope']);
    });

    it('is not given where it was not asked for: older clients see no difference', async () => {
      const tokens = await portalTokens(grid, 'alice');
      expect(Object.keys(tokens).sort()).toEqual([...MEMBERS, 'refresh_token'].sort());
      expect(tokens.scope).not.toContain('openid');
    });

    it('is no scope of the certificate flow', async () => {
      const alice = await grid.certificate('alice');
      const query = { grant_type: 'client_credentials', group: 'grid_user', setup: 'Prod' };
      const refused = await alice.get('/oauth2/token', { query: { ...query, scope: 'openid' } });
      expect([refused.status, refused.body.error]).toEqual([400, 'invalid_scope']);
    });

    it.each(['profile', 'email profile', 'nonsense'])(
      'must be there for anything to be said of the user: %s is invalid_scope',
      async (scope) => {
        const visitor = new PageVisitor(await grid.certificate('alice'));
        const { parameters } = redirectOf(await visitor.open(authorizePath({ scope })));
        expect([parameters['error'], parameters['iss']]).toEqual(['invalid_scope', grid.url]);
      },
    );
  });

  describe('offline_access', () => {
    it('is asked of the user, and alone gives a refresh token beside an ID token', async () => {
      const scope = 'openid offline_access jobs:read';
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const page = await visitor.open(authorizePath({ scope, nonce: 'first' }));
      expect(page.body).toContain('Know who you are');
      expect(page.body).toContain('Go on while you are away, until you withdraw it');
      const back = await visitor.send(formOf(page.body), { decision: 'allow' });
      const { body: first } = await exchange(grid, redirectOf(back).parameters['code']);
      expect(first.scope).toBe('jobs:read openid offline_access');
      const { body: next } = (await renew(grid, first.refresh_token)) as any;
      const [old, fresh] = [claimsOf((first as any).id_token), claimsOf(next.id_token)];
      // Core §12.2: the same user, session and sign-in, for the fresh access token, without nonce
      expect(fresh).toEqual({
        ...old,
        nonce: undefined,
        jti: expect.any(String),
        iat: expect.any(Number),
        exp: expect.any(Number),
        at_hash: accessTokenHash(next.access_token),
      });
      const narrowed = await renew(grid, next.refresh_token, { scope: 'jobs:read' });
      expect([narrowed.status, (narrowed.body as any).id_token]).toEqual([200, undefined]);
    });

    it('is not asked when it was not asked for', async () => {
      const visitor = new PageVisitor(await grid.certificate('alice'));
      const page = await visitor.open(authorizePath({ scope: 'openid jobs:read' }));
      expect(page.body).not.toContain('while you are away');
    });
  });

  it('gives a device an ID token of the sign-in in its user’s browser, without nonce', async () => {
    const started = await grid.anonymous.post('/oauth2/device_authorization', {
      form: { client_id: 'gridgate-cli', scope: 'openid profile offline_access' },
    });
    expect(started.status).toBe(200);
    const visitor = new PageVisitor(await grid.certificate('bob'));
    const page = await visitor.open(`/oauth2/device?user_code=${started.body.user_code}`);
    expect(page.body).toContain('See your name');
    await visitor.send(formsOf(page.body)[0]!, { decision: 'allow' });
    const { status, body } = await grid.anonymous.post('/oauth2/token', {
      form: {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: started.body.device_code,
        client_id: 'gridgate-cli',
      },
    });
    expect(status).toBe(200);
    expect([body.scope, typeof body.refresh_token]).toEqual([
      'openid profile offline_access',
      'string',
    ]);
    const claims = await verifiedIdToken(grid.anonymous, body.id_token, 'gridgate-cli');
    expect(claims).toMatchObject({ sub: claimsOf(body.access_token).sub, acr: CERTIFICATE_CLASS });
    expect(claims['nonce']).toBeUndefined();
  });

  describe('GET and POST /oauth2/userinfo', () => {
    const described = async (scope: string): Promise<unknown[]> => {
      const { body } = await openidTokens(grid, 'alice', { scope });
      const bearer = grid.bearer(body.access_token);
      const [got, posted] = [
        await bearer.get('/oauth2/userinfo'),
        await bearer.post('/oauth2/userinfo'),
      ];
      const inQuery = await grid.anonymous.get('/oauth2/userinfo', {
        query: { access_token: body.access_token },
      });
      expect([posted.status, posted.body, inQuery.body]).toEqual([got.status, got.body, got.body]);
      const { sub } = claimsOf(body.id_token);
      return [got.status, got.headers['cache-control'], { ...got.body, sub: got.body.sub === sub }];
    };

    it('say of the user what the scopes allow', async () => {
      const alice = {
        profile: { name: 'Alice Example', preferred_username: 'alice' },
        email: { email: 'alice@example.org', email_verified: false },
      };
      expect(await described('openid')).toEqual([200, 'no-store', { sub: true }]);
      expect(await described('openid profile')).toEqual([
        200,
        'no-store',
        { sub: true, ...alice.profile },
      ]);
      expect(await described('jobs:read email openid profile')).toEqual([
        200,
        'no-store',
        { sub: true, ...alice.profile, ...alice.email },
      ]);
    });

    it('are refused without the scope, without token, and with an ID token', async () => {
      const { body } = await openidTokens(grid, 'alice', { scope: 'openid' });
      const expectRefusal = (
        answer: Answer,
        [error, code, detail]: [string, ProblemCode, string],
        challenge = `, error="${error}", error_description="${detail}"`,
      ): void =>
        expect(refusalOf(answer)).toEqual([
          challengeOf(grid, `Bearer realm="gridgate"${challenge}`),
          problem(error, code, detail),
        ]);
      const needs = 'This needs the scope openid';
      expectRefusal(
        await (await grid.as('alice')).get('/oauth2/userinfo'),
        ['insufficient_scope', 'auth.insufficient-scope', needs],
        `, error="insufficient_scope", error_description="${needs}", scope="openid"`,
      );
      expectRefusal(
        await grid.anonymous.get('/oauth2/userinfo'),
        ['invalid_request', 'auth.token-missing', 'Send an access token'],
        '',
      );
      expectRefusal(await grid.bearer(body.id_token).get('/oauth2/userinfo'), [
        ...(['invalid_token', 'auth.token-invalid'] as const),
        'The access token is unknown, expired or revoked',
      ]);
      const query = { access_token: body.access_token };
      expectRefusal(await grid.bearer(body.access_token).get('/oauth2/userinfo', { query }), [
        ...(['invalid_request', 'auth.token-ambiguous'] as const),
        'Send one access token, in the header or in the query string',
      ]);
    });
  });

  it('names the issuer in every answer (RFC 9207)', async () => {
    const visitor = new PageVisitor(await grid.certificate('alice'));
    const page = await visitor.open(authorizePath({ scope: 'openid' }));
    const allowed = redirectOf(await visitor.send(formOf(page.body), { decision: 'allow' }));
    const denied = redirectOf(await visitor.send(formOf(page.body), { decision: 'deny' }));
    expect(allowed).toEqual({
      place: CALLBACK,
      parameters: { code: expect.any(String), state: 'xyz', iss: grid.url },
    });
    expect(denied.parameters).toMatchObject({ error: 'access_denied', iss: grid.url });
  });
});
