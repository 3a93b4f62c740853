import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { X509Certificate } from 'node:crypto';
import { decodeJwt } from 'jose';
import {
  addApplication,
  assertionOf,
  DpopCaller,
  makeKey,
  type TestKey,
} from '../support/applications.js';
import { challengeOf } from '../support/challenges.js';
import { CommandUser } from '../support/command.js';
import { createTestPki, type TestPki } from '../support/id-provider-pki.js';
import { eventually, startGrid, type Grid, type GridClient } from '../support/testbed.js';

const CALLBACK = 'https://app.example/cb';
const OWN = { grant_type: 'client_credentials' };
const REFUSED = {
  error: 'invalid_client',
  error_description: 'The application is unknown or did not prove itself',
};

let grid: Grid;
let pki: TestPki;
let key: TestKey;
let bearers: GridClient;
const scopes = ['jobs:read', 'catalogue:read'];

beforeAll(async () => {
  [grid, pki, key] = await Promise.all([startGrid(), createTestPki(), makeKey()]);
  bearers = grid.anonymous;
  const jwks = { keys: [key.jwk] };
  const own = { scopes, group: 'grid_user' };
  await addApplication(grid, { id: 'jwt', authentication: 'private_key_jwt', jwks, ...own });
  const byKey = { authentication: 'private_key_jwt', jwks };
  await addApplication(grid, { id: 'fapi', ...byKey, profile: 'fapi2', ...own });
  await addApplication(grid, { id: 'scopeless', ...byKey });
  await addApplication(grid, {
    id: 'tls',
    authentication: 'tls_client_auth',
    subjectDn: '/DC=org/DC=grid/CN=stranger',
    ...own,
  });
});
afterAll(async () => {
  await grid?.remove();
  await pki?.remove();
});

const assertion = (id: string, aud = grid.url, claims = {}) =>
  assertionOf(id, key, { aud, ...claims });
const answerOf = ({ status, body }: { status: number; body: any }): unknown => [
  status,
  { error: body.error, error_description: body.error_description },
];

describe('private_key_jwt', () => {
  it('gives an application a token for itself, whose sub is the application', async () => {
    const proof = await assertion('jwt');
    const answer = await bearers.post('/oauth2/token', { form: { ...OWN, ...proof } });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token: answer.body.access_token,
        token_type: 'Bearer',
        expires_in: expect.any(Number),
        scope: 'jobs:read catalogue:read',
        group: 'grid_user',
        setup: 'Prod',
      },
    ]);
    const about = await bearers.post('/oauth2/introspect', {
      form: { token: answer.body.access_token, ...(await assertion('jwt')) },
    });
    expect(about.body).toMatchObject({ active: true, sub: 'jwt', client_id: 'jwt' });
    const jobs = await grid.bearer(answer.body.access_token).get('/jobs');
    expect([jobs.status, jobs.body]).toEqual([200, { entries: 0, jobs: [] }]);
    const submit = await grid.bearer(answer.body.access_token).post('/jobs', { json: {} });
    expect([submit.status, submit.body.code]).toEqual([403, 'auth.insufficient-scope']);
  });

  it('shows each assertion once, on any instance', async () => {
    const second = await grid.second();
    try {
      const proof = await assertion('jwt', grid.url);
      const form = { ...OWN, ...proof };
      expect((await bearers.post('/oauth2/token', { form })).status).toBe(200);
      for (const one of [grid, second]) {
        const again = await one.anonymous.post('/oauth2/token', { form });
        expect(answerOf(again)).toEqual([401, REFUSED]);
      }
    } finally {
      await second.remove();
    }
  });

  it.each<[string, () => Promise<Record<string, string>>]>([
    ['for another server', () => assertion('jwt', 'https://other.example')],
    ['that has ended', () => assertion('jwt', grid.url, { exp: 1 })],
    ['of another application', () => assertion('tls')],
    [
      'by a key that is not registered',
      async () => assertionOf('jwt', await makeKey(), { aud: grid.url }),
    ],
    [
      'with a list as audience, with fapi2',
      () => assertionOf('fapi', key, { aud: [grid.url] as never }),
    ],
    ['for the token endpoint, with fapi2', () => assertion('fapi', `${grid.url}/oauth2/token`)],
    [
      'beside the secret of nobody',
      () => Promise.resolve({ client_id: 'jwt', client_secret: 'x' }),
    ],
    ['left out', () => Promise.resolve({ client_id: 'jwt' })],
  ])('is refused %s', async (_what, proof) => {
    const answer = await bearers.post('/oauth2/token', { form: { ...OWN, ...(await proof()) } });
    expect(answerOf(answer)).toEqual([401, REFUSED]);
  });

  it('is refused beside another way of authentication, whatever certificate comes with it', async () => {
    const client = await grid.certificate('alice');
    const wish = { ...OWN, group: 'grid_user', setup: 'Prod' };
    const header = (text: string) => ({
      authorization: `Basic ${Buffer.from(text).toString('base64')}`,
    });
    const twice = {
      error: 'invalid_request',
      error_description: 'Authenticate in the header or in the body, not both',
    };
    const send = async (form: object, headers = {}) =>
      answerOf(await client.post('/oauth2/token', { form: { ...wish, ...form }, headers }));
    const proof = await assertion('jwt');
    expect(await send({ ...proof, client_secret: 'x' })).toEqual([400, twice]);
    expect(await send(proof, header('jwt:x'))).toEqual([400, twice]);
    expect(await send({ client_secret: 'x' }, header('jwt:x'))).toEqual([400, twice]);
    const ofNobody = { ...proof, client_assertion: 'no.jwt.atall' };
    expect(await send(ofNobody)).toEqual([401, REFUSED]);
    expect(await send(ofNobody, header('nonsense'))).toEqual([401, REFUSED]);
  });

  it.each<[Record<string, string>, number, string, string]>([
    [
      { scope: 'jobs:submit' },
      400,
      'invalid_scope',
      'The group allows none of the scopes that were asked for',
    ],
    [{ group: 'grid_adm' }, 403, 'access_denied', 'The group is not yours'],
    [{ setup: 'Nowhere' }, 403, 'access_denied', 'The setup is not one that this group may use'],
  ])('of a token for itself with %j is refused', async (asked, status, error, text) => {
    const form = { ...OWN, ...asked, ...(await assertion('jwt')) };
    const answer = await bearers.post('/oauth2/token', { form });
    expect(answerOf(answer)).toEqual([status, { error, error_description: text }]);
  });

  it('gives nothing to an application that is not registered for it', async () => {
    const form = { ...OWN, ...(await assertion('scopeless')) };
    const answer = await bearers.post('/oauth2/token', { form });
    expect(answerOf(answer)).toEqual([
      400,
      {
        error: 'unauthorized_client',
        error_description: 'This application is not registered for tokens of its own',
      },
    ]);
  });

  it('is not used up by a request that came too often', async () => {
    const limited = await startGrid({
      env: { GRID_RATE_TOKEN: '2', GRID_TRUSTED_PROXIES: '127.0.0.1,::1' },
    });
    try {
      const jwks = { keys: [key.jwk] };
      await addApplication(limited, { id: 'eager', authentication: 'private_key_jwt', jwks });
      const ask = async (n: number, proof: Record<string, string>): Promise<number> => {
        const form = { grant_type: 'refresh_token', refresh_token: 'x', ...proof };
        const headers = { 'x-forwarded-for': `203.0.113.${n}` };
        return (await limited.anonymous.post('/oauth2/token', { form, headers })).status;
      };
      const proofs = await Promise.all(
        Array.from({ length: 30 }, () => assertionOf('eager', key, { aud: limited.url })),
      );
      const answers = await Promise.all(proofs.map((proof, n) => ask(n, proof)));
      const late = proofs[answers.indexOf(429)]!;
      const again = async (address: number) =>
        eventually(async () => {
          const status = await ask(address, late);
          return status !== 429 && status;
        }, 'its turn');
      expect(await again(41)).toBe(400);
      expect(await again(42)).toBe(401);
    } finally {
      await limited.remove();
    }
  });

  it('ends at once what the application has for itself when its registration changes', async () => {
    await addApplication(grid, {
      ...{ id: 'short', authentication: 'private_key_jwt', jwks: { keys: [key.jwk] } },
      ...{ scopes, group: 'grid_user' },
    });
    const form = { ...OWN, ...(await assertion('short')) };
    const { body } = await bearers.post('/oauth2/token', { form });
    expect((await grid.bearer(body.access_token).get('/jobs')).status).toBe(200);
    await grid.sql(`update registry_application set group_name = 'grid_mon' where id = 'short'`);
    expect((await grid.bearer(body.access_token).get('/jobs')).status).toBe(401);
  });
});

describe('tokens of an application for itself', () => {
  it('may be for storage, below the paths that it is registered with', async () => {
    await addApplication(grid, {
      ...{ id: 'mover', authentication: 'private_key_jwt', jwks: { keys: [key.jwk] } },
      ...{ scopes: ['storage.read:/vo', 'compute.read'], group: 'grid_user' },
    });
    const asked = async (scope: string) =>
      bearers.post('/oauth2/token', { form: { ...OWN, scope, ...(await assertion('mover')) } });
    const { status, body } = await asked('storage.read:/vo/a storage.read:/ storage.create:/vo/a');
    expect([status, body.scope, body.expires_in]).toEqual([200, 'storage.read:/vo/a', 3600]);
    const other = { error: 'invalid_target' };
    const elsewhere = await bearers.post('/oauth2/token', {
      form: { ...OWN, audience: 'https://x.example', ...(await assertion('mover')) },
    });
    expect([elsewhere.status, elsewhere.body]).toEqual([400, expect.objectContaining(other)]);
    const wider = await asked('openid jobs:kill storage.read:/');
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope']);
  });

  it('are exchanged for narrower ones by whoever proves their key, and stay its own', async () => {
    const holder = new DpopCaller(bearers, await makeKey());
    const { body: parent } = await holder.call('POST', '/oauth2/token', {
      form: { ...OWN, ...(await assertion('jwt')) },
    });
    expect(parent.token_type).toBe('DPoP');
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      ...{ client_id: 'gridgate-cli', scope: 'jobs:read', subject_token: parent.access_token },
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    };
    const thief = new DpopCaller(bearers, await makeKey());
    for (const answer of [
      await bearers.post('/oauth2/token', { form }),
      await thief.call('POST', '/oauth2/token', { form }),
    ]) {
      expect(answerOf(answer)).toEqual([
        400,
        {
          error: 'invalid_request',
          error_description: 'The subject_token is bound to a key that the request does not prove',
        },
      ]);
    }
    const { status, body } = await holder.call('POST', '/oauth2/token', { form });
    expect([status, body.token_type, body.scope]).toEqual([200, 'DPoP', 'jobs:read']);
    expect(decodeJwt(body.access_token)).toMatchObject({
      ...{ sub: 'jwt', preferred_username: 'application:jwt', client_id: 'gridgate-cli' },
      act: { sub: 'gridgate-cli', act: { sub: 'jwt' } },
      cnf: { jkt: holder.key.thumbprint },
    });
    const jobs = await holder.call('GET', '/jobs', { token: body.access_token });
    expect([jobs.status, jobs.body]).toEqual([200, { entries: 0, jobs: [] }]);
    const bare = await grid.bearer(body.access_token).get('/jobs');
    expect([bare.status, bare.body.code]).toEqual([401, 'auth.token-invalid']);
  });
});

describe('applications with a certificate', () => {
  const tls = { ...OWN, client_id: 'tls' };

  it('prove themselves by the DN, and their tokens are bound to the certificate', async () => {
    const holder = await grid.certificate('stranger');
    const answer = await holder.post('/oauth2/token', { form: tls });
    expect([answer.status, answer.body.token_type]).toEqual([200, 'Bearer']);
    const token = answer.body.access_token as string;
    const headers = { authorization: `Bearer ${token}` };
    expect((await holder.get('/jobs', { headers })).status).toBe(200);
    const refusal = {
      status: 401,
      code: 'auth.token-invalid',
      detail: 'The access token is bound to a client certificate',
    };
    for (const thief of [grid.anonymous, await grid.certificate('alice')]) {
      const stolen = await thief.get('/jobs', { headers });
      expect([stolen.status, stolen.body]).toEqual([401, expect.objectContaining(refusal)]);
      expect(stolen.headers['www-authenticate']).toBe(
        challengeOf(
          grid,
          'Bearer realm="gridgate", error="invalid_token", error_description="The access token is bound to a client certificate"',
        ),
      );
      const byQuery = await thief.get('/jobs', { query: { access_token: token } });
      expect(byQuery.status).toBe(401);
    }
    const about = await holder.post('/oauth2/introspect', { form: { token, client_id: 'tls' } });
    const { cert } = await grid.pair('stranger');
    const print = new X509Certificate(cert).fingerprint256.replaceAll(':', '');
    expect(about.body.cnf).toEqual({
      'x5t#S256': Buffer.from(print, 'hex').toString('base64url'),
    });
    const self = await grid.anonymous.post('/oauth2/introspect', { form: { token }, headers });
    expect(answerOf(self)).toEqual([
      401,
      {
        error: 'invalid_token',
        error_description: 'The access token is bound to a client certificate',
      },
    ]);
  });

  it('are refused with another certificate, or none', async () => {
    for (const caller of [grid.anonymous, await grid.certificate('alice')]) {
      expect(answerOf(await caller.post('/oauth2/token', { form: tls }))).toEqual([401, REFUSED]);
    }
  });

  it('prove themselves by a certificate of their own that they have registered', async () => {
    const [mine, other] = await Promise.all([pki.selfSigned('mine'), pki.selfSigned('other')]);
    const x5c = [new X509Certificate(mine.cert).raw.toString('base64')];
    await addApplication(grid, {
      ...{ id: 'self', authentication: 'self_signed_tls_client_auth', scopes, group: 'grid_user' },
      jwks: { keys: [{ kty: 'EC', x5c }] },
    });
    const form = { ...OWN, client_id: 'self' };
    const holder = await grid.certificate(mine);
    const answer = await holder.post('/oauth2/token', { form });
    expect(answer.status).toBe(200);
    const headers = { authorization: `Bearer ${answer.body.access_token}` };
    expect((await holder.get('/jobs', { headers })).status).toBe(200);
    const thief = await grid.certificate(other);
    expect(answerOf(await thief.post('/oauth2/token', { form }))).toEqual([401, REFUSED]);
    expect((await thief.get('/jobs', { headers })).status).toBe(401);
  });
});

describe('gridgate client add', () => {
  it('registers keys, profile and own scopes, and says what is wrong with them', async () => {
    const command = new CommandUser(grid.home);
    const env = { GRID_HOME: grid.home, DATABASE_URL: grid.database.url };
    const file = join(grid.home, 'keys.json');
    await writeFile(file, JSON.stringify({ keys: [key.jwk] }));
    const words = ['client', 'add', '--name', 'Strict', '--id', 'added', '--profile', 'fapi2'];
    const keys = ['--auth', 'private_key_jwt', '--jwks', file];
    const uri = ['--redirect-uri', CALLBACK];
    const own = ['--scope', 'jobs:read', '--group', 'grid_user'];
    const added = await command.run([...words, ...keys, ...uri, ...own, '--json'], env);
    expect([added.code, added.stderr, JSON.parse(added.stdout)]).toEqual([
      ...[0, '', { client_id: 'added' }],
    ]);
    const caller = new DpopCaller(bearers, await makeKey());
    const answer = await caller.call('POST', '/oauth2/token', {
      form: { ...OWN, ...(await assertion('added')) },
    });
    expect([answer.status, answer.body.scope]).toEqual([200, 'jobs:read']);
    const shown = await command.run(['client', 'show', 'added', '--json'], env);
    expect(JSON.parse(shown.stdout)).toEqual({
      client_id: 'added',
      name: 'Strict',
      redirect_uris: [CALLBACK],
      confidential: true,
      profile: 'fapi2',
      authentication: 'private_key_jwt',
      scopes: ['jobs:read'],
      group: 'grid_user',
      origin: 'command',
    });
    const bad = await command.run(
      [...words, '--redirect-uri', 'http://localhost/cb', '--scope', 'all', '--group', 'nothing'],
      env,
    );
    expect(bad.code).not.toBe(0);
    expect(bad.stderr).toContain('must all be https with fapi2');
    expect(bad.stderr).toContain('fapi2 needs an authentication by key or certificate');
    expect(bad.stderr).toContain('all is not known');
    expect(bad.stderr).toContain('there is no group nothing');
    const missing = await command.run(
      [...words, '--auth', 'private_key_jwt', '--jwks', 'none'],
      env,
    );
    expect([missing.code, missing.stderr]).toEqual([
      2,
      'gridgate: --jwks none cannot be read (ENOENT)\n',
    ]);
  });
});
